// Kubernetes resource quantities (`500m`, `16Gi`, `1e3`), as the API server keeps them: exact down
// to one billionth, finer fractions rounded away from zero, binary ones up to 2^63-1.
//
// As there, short quantities are kept as an integer and a power of ten, all others as billionths.
// That shows: only the first kind is ever an integer (`1Ti` is one, `1Pi` and `1.0` are not).
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "cel/functions.hpp"
#include "cel/numbers.hpp"

namespace gpuctl::cel::lib {

namespace {

__extension__ typedef __int128 Wide;

constexpr Wide kNano = 1'000'000'000;
constexpr int kNanoDigits = 9;
constexpr std::int64_t kMostInteger = std::numeric_limits<std::int64_t>::max();
// What is larger than any use counts as this: 10^28.
constexpr int kMostDigits = 28;

constexpr Wide power_of_ten(int exponent) {
  Wide power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

constexpr Wide kMost = power_of_ten(kMostDigits) * kNano;

/// value * 10^scale.
struct Short {
  std::int64_t value = 0;
  int scale = 0;
};

/// `value` times a power of ten, when it fits.
std::optional<std::int64_t> scaled(std::int64_t value, int by) {
  if (value == 0) return 0;
  for (int i = 0; i < by; ++i) {
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
  }
  return value;
}

Wide nano_of(const Short& amount) {
  Wide nano = amount.value;
  for (int i = -kNanoDigits; i < amount.scale && nano < kMost && nano > -kMost; ++i) nano *= 10;
  return std::clamp(nano, -kMost, kMost);
}

struct Quantity final : Opaque {
  explicit Quantity(Wide billionths) : nano(billionths) {}
  explicit Quantity(const Short& amount) : nano(nano_of(amount)), small(amount) {}
  std::string type_name() const override { return "quantity"; }
  bool equals(const Opaque& other) const override {
    const auto* quantity = dynamic_cast<const Quantity*>(&other);
    return quantity != nullptr && quantity->nano == nano;
  }
  const Wide nano;
  const std::optional<Short> small{};
};

using Made = std::shared_ptr<const Quantity>;

struct Suffix {
  int decimal = 0;  // power of ten
  int binary = 0;   // power of two
};

std::optional<Suffix> parse_suffix(std::string_view text) {
  struct NamedSuffix {
    std::string_view name;
    Suffix suffix;
  };
  static constexpr std::array<NamedSuffix, 16> kNamed = {{{"", {0, 0}},
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
  for (const NamedSuffix& named : kNamed) {
    if (named.name == text) return named.suffix;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text.front() == '+') text.remove_prefix(1);
  int exponent = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  constexpr int kFarOut = 1000;  // beyond every double
  return Suffix{std::clamp(exponent, -kFarOut, kFarOut), 0};
}

/// A quantity as written: sign, digits before and after the point (no leading zeros), suffix.
struct Written {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  Suffix suffix;
};

/// Digits may be missing: the API server reads `Ki` and `.` as zero.
std::optional<Written> read_quantity(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Written written;
  if (text.front() == '-' || text.front() == '+') {
    written.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const auto digits = [&] {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string_view read = text.substr(0, end);
    text.remove_prefix(end);
    return read;
  };
  written.whole = digits();
  const std::size_t zeros = written.whole.find_first_not_of('0');
  written.whole.remove_prefix(std::min(zeros, written.whole.size()));
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    written.fraction = digits();
  }
  const auto suffix = parse_suffix(text);
  if (!suffix) return std::nullopt;
  written.suffix = *suffix;
  return written;
}

/// The quantity as an integer and a power of ten, when it is short enough for that: decimal ones
/// of up to 18 digits, binary ones without a fraction and with fewer digits.
std::optional<Short> as_short(const Written& written) {
  const int whole = std::max(1, static_cast<int>(std::min<std::size_t>(written.whole.size(), 99)));
  const int fraction = static_cast<int>(std::min<std::size_t>(written.fraction.size(), 99));
  const int binary = written.suffix.binary;
  if (binary != 0 ? fraction != 0 || 15 - whole - binary * 3 / 10 - 1 < 0
                  : 18 - whole - fraction < 0) {
    return std::nullopt;
  }
  const int scale = written.suffix.decimal - fraction;
  if (scale < -kNanoDigits) return std::nullopt;
  std::int64_t value = 0;
  for (const std::string_view part : {written.whole, written.fraction}) {
    for (const char c : part) value = value * 10 + (c - '0');
  }
  if (__builtin_mul_overflow(value, std::int64_t{1} << binary, &value)) return std::nullopt;
  return Short{written.negative ? -value : value, scale};
}

/// The quantity in billionths.
Wide as_nano(const Written& written) {
  std::string digits(written.whole);
  digits += written.fraction;
  const std::int64_t point =
      static_cast<std::int64_t>(written.whole.size()) + written.suffix.decimal;
  // Digits before the point make the whole part, eighteen after it the fraction; anything left
  // over only rounds up.
  constexpr int kFraction = 18;
  constexpr Wide kOne = power_of_ten(kFraction);
  Wide whole = 0;
  Wide fraction = 0;
  bool rest = false;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i) - point;  // >= 0: after the point
    const int digit = digits[i] - '0';
    if (digit == 0) continue;
    if (place >= kFraction) {
      rest = true;
    } else if (place < -kMostDigits) {
      return kMost;
    } else if (place < 0) {
      whole += power_of_ten(static_cast<int>(-place) - 1) * digit;
    } else {
      fraction += power_of_ten(kFraction - 1 - static_cast<int>(place)) * digit;
    }
  }
  const bool is_binary = written.suffix.binary != 0;
  const Wide multiplier = static_cast<Wide>(1) << written.suffix.binary;
  const Wide cap = is_binary ? kMostInteger * kNano : kMost;
  if (whole > cap / kNano / multiplier) return cap;
  const Wide parts = fraction * multiplier;  // in units of 10^-18
  const Wide below = (parts % kOne) * kNano;
  Wide nano = (whole * multiplier + parts / kOne) * kNano + below / kOne;
  if (below % kOne != 0 || rest) ++nano;
  return std::min(nano, cap);
}

Made parse_quantity(std::string_view text) {
  const auto written = read_quantity(text);
  if (!written) return nullptr;
  if (const auto small = as_short(*written)) return std::make_shared<const Quantity>(*small);
  const Wide nano = as_nano(*written);
  return std::make_shared<const Quantity>(written->negative ? -nano : nano);
}

/// The sum with the finer of both scales, when it fits.
std::optional<Short> add_short(const Short& a, const Short& b) {
  if (b.value == 0) return a;
  if (a.value == 0) return b;
  const int scale = std::min(a.scale, b.scale);
  const auto x = scaled(a.value, a.scale - scale);
  const auto y = scaled(b.value, b.scale - scale);
  Short sum{0, scale};
  if (!x || !y || __builtin_add_overflow(*x, *y, &sum.value)) return std::nullopt;
  return sum;
}

Outcome add(const Quantity& a, const Quantity& b) {
  if (a.small && b.small) {
    if (const auto sum = add_short(*a.small, *b.small)) {
      return give(Value(std::make_shared<const Quantity>(*sum)));
    }
  }
  const Wide nano = a.nano + b.nano;
  if (nano >= kMost || nano <= -kMost) return fail("the quantity is out of range");
  return give(Value(std::make_shared<const Quantity>(nano)));
}

template <int Sign>
Outcome combine(Arguments args, CallContext&) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const auto& own = as<Quantity>(args[0]);
  if (args[1].is_node()) {
    const std::int64_t other = args[1].node().as_integer();
    if (Sign < 0 && other == kLeast) return add(own, Quantity(-static_cast<Wide>(other) * kNano));
    return add(own, Quantity(Short{Sign * other, 0}));
  }
  const auto& other = as<Quantity>(args[1]);
  if (Sign > 0) return add(own, other);
  if (other.small && other.small->value != kLeast) {
    return add(own, Quantity(Short{-other.small->value, other.small->scale}));
  }
  return add(own, Quantity(-other.nano));
}

std::optional<std::int64_t> whole_number(const Value& value) {
  const auto& small = as<Quantity>(value).small;
  if (!small || small->scale < 0) return std::nullopt;
  return scaled(small->value, small->scale);
}

/// Like the API server: one multiplication, so that 0.3 may come out a bit off.
double approximate(const Quantity& quantity) {
  const double base = quantity.small ? static_cast<double>(quantity.small->value)
                                     : static_cast<double>(quantity.nano);
  const int exponent = quantity.small ? quantity.small->scale : -kNanoDigits;
  if (exponent == 0) return base;
  constexpr int kBeyondDoubles = 308;
  if (exponent > kBeyondDoubles) {
    return base == 0 ? base : base * std::numeric_limits<double>::infinity();
  }
  return base * parse_double("1e" + std::to_string(exponent)).value_or(0);
}

Outcome sign(Arguments args, CallContext&) {
  const Wide nano = as<Quantity>(args[0]).nano;
  return give(std::int64_t{nano > 0 ? 1 : (nano < 0 ? -1 : 0)});
}

std::int64_t order(Arguments args) {
  const Wide a = as<Quantity>(args[0]).nano;
  const Wide b = as<Quantity>(args[1]).nano;
  return a < b ? -1 : (a > b ? 1 : 0);
}

}  // namespace

void add_quantity(Functions& to) {
  const Type quantity = Type::opaque("quantity");
  function(to, "quantity", {string()}, quantity, [](Arguments args, CallContext&) {
    const std::string_view text = args[0].node().as_string();
    Made made = parse_quantity(text);
    return made != nullptr ? give(Value(std::move(made)))
                           : fail("`" + std::string(text) + "` is no quantity");
  });
  function(to, "isQuantity", {string()}, boolean(), [](Arguments args, CallContext&) {
    return give(parse_quantity(args[0].node().as_string()) != nullptr);
  });
  both(to, "sign", {quantity}, integer(), sign);
  method(to, "isInteger", {quantity}, boolean(),
         [](Arguments args, CallContext&) { return give(whole_number(args[0]).has_value()); });
  method(to, "asInteger", {quantity}, integer(), [](Arguments args, CallContext&) {
    const auto integer = whole_number(args[0]);
    return integer ? give(*integer) : fail("the quantity is no integer, or too long for one");
  });
  method(to, "asApproximateFloat", {quantity}, real(),
         [](Arguments args, CallContext&) { return give(approximate(as<Quantity>(args[0]))); });
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
