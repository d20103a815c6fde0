// Durations, as far as rules of published CRDs compare them.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"
#include "cel/duration.hpp"
#include "cel/functions.hpp"

namespace gpuctl::cel {

namespace {
struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
// Longer names first, so that `ms` is not read as minutes. Both micro signs are accepted.
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\xC2\xB5s", 1'000},
                                         {"\xCE\xBCs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};
}  // namespace

std::optional<std::int64_t> parse_duration(std::string_view text) {
  // As Go reads durations, whose texts these are: magnitudes without sign, fractions as doubles.
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::uint64_t total = 0;
  while (!text.empty()) {
    std::uint64_t whole = 0;
    std::size_t at = 0;
    for (; at < text.size() && base::is_digit(text[at]); ++at) {
      if (whole > kLimit / 10) return std::nullopt;
      whole = whole * 10 + static_cast<std::uint64_t>(text[at] - '0');
      if (whole > kLimit) return std::nullopt;
    }
    std::size_t digits = at;
    std::uint64_t fraction = 0;
    double scale = 1;
    if (at < text.size() && text[at] == '.') {
      bool full = false;  // further digits are below what counts
      for (++at; at < text.size() && base::is_digit(text[at]); ++at, ++digits) {
        full = full || fraction > (kLimit - 1) / 10;
        const std::uint64_t next = fraction * 10 + static_cast<std::uint64_t>(text[at] - '0');
        full = full || next > kLimit;
        if (full) continue;
        fraction = next;
        scale *= 10;
      }
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(at);
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& candidate) {
      return text.substr(0, candidate.name.size()) == candidate.name;
    });
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(unit->name.size());
    if (whole > kLimit / static_cast<std::uint64_t>(unit->nanoseconds)) return std::nullopt;
    whole *= static_cast<std::uint64_t>(unit->nanoseconds);
    if (fraction > 0) {
      whole += static_cast<std::uint64_t>(static_cast<double>(fraction) *
                                          (static_cast<double>(unit->nanoseconds) / scale));
    }
    if (whole > kLimit) return std::nullopt;
    total += whole;
    if (total > kLimit) return std::nullopt;
  }
  if (negative) return static_cast<std::int64_t>(0 - total);
  if (total == kLimit) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

std::string duration_text(std::int64_t nanoseconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  // In two parts: all nanoseconds at once would be more than a double tells apart.
  const std::int64_t whole = nanoseconds / kSecond;
  const double seconds =
      static_cast<double>(whole) + static_cast<double>(nanoseconds % kSecond) / 1e9;
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), seconds, std::chars_format::fixed)
          .ptr;
  return std::string(buffer.data(), end) + "s";
}

namespace lib {

namespace {

template <std::int64_t Unit>
Outcome total_in(Arguments args, CallContext&) {
  return give(as<Duration>(args[0]).nanoseconds / Unit);
}

}  // namespace

void add_duration(Functions& to) {
  const Type duration = Type::opaque("duration");
  function(to, "duration", {string()}, duration, [](Arguments args, CallContext&) {
    const std::string_view text = args[0].node().as_string();
    const auto parsed = parse_duration(text);
    if (!parsed) return fail("`" + std::string(text) + "` is no duration");
    return give(Value(std::make_shared<const Duration>(*parsed)));
  });
  function(to, "duration", {duration}, duration,
           [](Arguments args, CallContext&) { return give(args[0]); });
  method(to, "getHours", {duration}, integer(), total_in<3'600'000'000'000>);
  method(to, "getMinutes", {duration}, integer(), total_in<60'000'000'000>);
  method(to, "getSeconds", {duration}, integer(), total_in<1'000'000'000>);
  method(to, "getMilliseconds", {duration}, integer(), total_in<1'000'000>);
  function(to, "int", {duration}, integer(), total_in<1>);
  function(to, "string", {duration}, string(), [](Arguments args, CallContext& context) {
    return give_text(context, duration_text(as<Duration>(args[0]).nanoseconds));
  });
}

}  // namespace lib
}  // namespace gpuctl::cel
