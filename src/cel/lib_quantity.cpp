// Kubernetes resource quantities (`500m`, `16Gi`, `1e3`), exact down to one billionth as the API
// server keeps them: finer fractions are rounded away from zero, larger numbers stop at 2^63-1.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "cel/functions.hpp"

namespace gpuctl::cel::lib {

namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t kNano = 1'000'000'000;
constexpr Wide kMost = static_cast<Wide>(std::numeric_limits<std::int64_t>::max()) * kNano;

struct Quantity final : Opaque {
  explicit Quantity(Wide value) : nano(value) {}
  std::string type_name() const override { return "quantity"; }
  bool equals(const Opaque& other) const override {
    const auto* quantity = dynamic_cast<const Quantity*>(&other);
    return quantity != nullptr && quantity->nano == nano;
  }
  const Wide nano;
};

struct Suffix {
  int decimal = 0;  // power of ten
  int binary = 0;   // power of two
};

std::optional<Suffix> parse_suffix(std::string_view text) {
  struct Named {
    std::string_view name;
    Suffix suffix;
  };
  static constexpr std::array<Named, 16> kNamed = {{{"", {0, 0}},
                                                    {"n", {-9, 0}},
                                                    {"u", {-6, 0}},
                                                    {"m", {-3, 0}},
                                                    {"k", {3, 0}},
                                                    {"M", {6, 0}},
                                                    {"G", {9, 0}},
                                                    {"T", {12, 0}},
                                                    {"P", {15, 0}},
                                                    {"E", {18, 0}},
                                                    {"Ki", {0, 10}},
                                                    {"Mi", {0, 20}},
                                                    {"Gi", {0, 30}},
                                                    {"Ti", {0, 40}},
                                                    {"Pi", {0, 50}},
                                                    {"Ei", {0, 60}}}};
  for (const Named& named : kNamed) {
    if (named.name == text) return named.suffix;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text.front() == '+') text.remove_prefix(1);
  int exponent = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return Suffix{std::clamp(exponent, -1000, 1000), 0};
}

std::optional<Wide> parse_quantity(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::string digits;
  std::int64_t point = -1;  // position of the decimal point in `digits`
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && point < 0) {
      point = static_cast<std::int64_t>(digits.size());
    } else if (c >= '0' && c <= '9') {
      digits.push_back(c);
    } else {
      break;
    }
  }
  if (digits.empty()) return std::nullopt;
  const auto suffix = parse_suffix(text.substr(at));
  if (!suffix) return std::nullopt;
  if (point < 0) point = static_cast<std::int64_t>(digits.size());
  point += suffix->decimal;

  const auto bounded = [&](Wide magnitude) { return negative ? -magnitude : magnitude; };
  // Digits before the point make the whole part, eighteen after it the fraction; anything left
  // over only rounds up.
  constexpr int kFraction = 18;
  Wide whole = 0;
  Wide fraction = 0;
  bool rest = false;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i) - point;  // >= 0: after the point
    const int digit = digits[i] - '0';
    if (digit == 0) continue;
    if (place >= kFraction) {
      rest = true;
      continue;
    }
    if (place < -19) return bounded(kMost);
    Wide unit = 1;
    const std::int64_t zeros = place < 0 ? -place - 1 : kFraction - 1 - place;
    for (std::int64_t k = 0; k < zeros; ++k) unit *= 10;
    (place < 0 ? whole : fraction) += unit * digit;
  }
  const Wide one = static_cast<Wide>(1'000'000'000'000'000'000);  // 10^kFraction
  const Wide multiplier = static_cast<Wide>(1) << suffix->binary;
  if (whole > std::numeric_limits<std::int64_t>::max() / multiplier) return bounded(kMost);
  const Wide scaled = fraction * multiplier;  // in units of 10^-18
  const Wide below = (scaled % one) * kNano;
  Wide nano = (whole * multiplier + scaled / one) * kNano + below / one;
  if (below % one != 0 || rest) ++nano;
  return bounded(std::min(nano, kMost));
}

Outcome give_quantity(Wide nano) {
  if (nano > kMost || nano < -kMost) return fail("the quantity is out of range");
  return give(Value(std::make_shared<const Quantity>(nano)));
}

Wide nano_of(const Value& value) {
  return value.is_node() ? static_cast<Wide>(value.node().as_integer()) * kNano
                         : as<Quantity>(value).nano;
}

template <int Sign>
Outcome combine(Arguments args, CallContext&) {
  return give_quantity(nano_of(args[0]) + Sign * nano_of(args[1]));
}

std::int64_t order(Arguments args) {
  const Wide a = nano_of(args[0]);
  const Wide b = nano_of(args[1]);
  return a < b ? -1 : (a > b ? 1 : 0);
}

}  // namespace

void add_quantity(Functions& to) {
  const Type quantity = Type::opaque("quantity");
  function(to, "quantity", {string()}, quantity, [](Arguments args, CallContext&) {
    const std::string_view text = args[0].node().as_string();
    const auto parsed = parse_quantity(text);
    return parsed ? give_quantity(*parsed) : fail("`" + std::string(text) + "` is no quantity");
  });
  function(to, "isQuantity", {string()}, boolean(), [](Arguments args, CallContext&) {
    return give(parse_quantity(args[0].node().as_string()).has_value());
  });
  method(to, "sign", {quantity}, integer(), [](Arguments args, CallContext&) {
    const Wide nano = nano_of(args[0]);
    return give(std::int64_t{nano > 0 ? 1 : (nano < 0 ? -1 : 0)});
  });
  method(to, "isInteger", {quantity}, boolean(),
         [](Arguments args, CallContext&) { return give(nano_of(args[0]) % kNano == 0); });
  method(to, "asInteger", {quantity}, integer(), [](Arguments args, CallContext&) {
    const Wide nano = nano_of(args[0]);
    if (nano % kNano != 0) return fail("the quantity is no integer");
    return give(static_cast<std::int64_t>(nano / kNano));
  });
  method(to, "asApproximateFloat", {quantity}, real(), [](Arguments args, CallContext&) {
    const Wide nano = nano_of(args[0]);
    return give(static_cast<double>(nano / kNano) +
                static_cast<double>(nano % kNano) / static_cast<double>(kNano));
  });
  for (const Type& other : {quantity, integer()}) {
    method(to, "add", {quantity, other}, quantity, combine<1>);
    method(to, "sub", {quantity, other}, quantity, combine<-1>);
  }
  method(to, "compareTo", {quantity, quantity}, integer(),
         [](Arguments args, CallContext&) { return give(order(args)); });
  method(to, "isGreaterThan", {quantity, quantity}, boolean(),
         [](Arguments args, CallContext&) { return give(order(args) > 0); });
  method(to, "isLessThan", {quantity, quantity}, boolean(),
         [](Arguments args, CallContext&) { return give(order(args) < 0); });
}

}  // namespace gpuctl::cel::lib
