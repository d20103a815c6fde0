// Durations, as far as rules of published CRDs compare them.
#include <array>
#include <limits>

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

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
}  // namespace

std::optional<std::int64_t> parse_duration(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;  // negative, because that side reaches one further
  while (!text.empty()) {
    std::int64_t whole = 0;
    std::int64_t fraction = 0;
    std::int64_t scale = 1;
    std::size_t at = 0;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      if (__builtin_mul_overflow(whole, 10, &whole) ||
          __builtin_add_overflow(whole, text[at] - '0', &whole)) {
        return std::nullopt;
      }
    }
    std::size_t digits = at;
    if (at < text.size() && text[at] == '.') {
      for (++at; at < text.size() && is_digit(text[at]); ++at, ++digits) {
        if (scale >= 1'000'000'000'000'000) continue;  // below what counts
        fraction = fraction * 10 + (text[at] - '0');
        scale *= 10;
      }
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(at);
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (text.substr(0, candidate.name.size()) == candidate.name) {
        unit = &candidate;
        break;
      }
    }
    if (unit == nullptr) return std::nullopt;
    text.remove_prefix(unit->name.size());
    std::int64_t part = 0;
    if (__builtin_mul_overflow(whole, unit->nanoseconds, &part)) return std::nullopt;
    const double below = static_cast<double>(fraction) *
                         (static_cast<double>(unit->nanoseconds) / static_cast<double>(scale));
    if (__builtin_add_overflow(part, static_cast<std::int64_t>(below), &part) ||
        __builtin_sub_overflow(total, part, &total)) {
      return std::nullopt;
    }
  }
  if (negative) return total;
  if (total == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  return -total;
}

std::string duration_text(std::int64_t nanoseconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::string text = std::to_string(nanoseconds / kSecond);
  if (nanoseconds < 0 && nanoseconds > -kSecond) text = "-0";
  std::int64_t rest = nanoseconds % kSecond;
  if (rest < 0) rest = -rest;
  if (rest != 0) {
    std::string digits = std::to_string(kSecond + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text + "s";
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
