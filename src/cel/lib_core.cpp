// Sizes, conversions, types, omit(), optionals.
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "cel/collections.hpp"
#include "cel/duration.hpp"
#include "cel/functions.hpp"
#include "cel/numbers.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

std::string double_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  // Shortest digits; an exponent below 1e-4 and from 1e6 on, unless more digits need no exponent:
  // `%g` as the published implementation prints it.
  std::array<char, 400> buffer{};
  const auto print = [&](std::chars_format format) {
    return std::string_view(
        buffer.data(),
        static_cast<std::size_t>(
            std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr -
            buffer.data()));
  };
  const std::string_view scientific = print(std::chars_format::scientific);
  const std::size_t e = scientific.find('e');
  int exponent = 0;
  const std::size_t digits = scientific[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(scientific.data() + digits, scientific.data() + scientific.size(), exponent);
  constexpr int kLeast = -4;
  constexpr int kMost = 6;
  if (exponent < kLeast || exponent >= kMost) return std::string(scientific);
  return std::string(print(std::chars_format::fixed));
}

namespace {

/// True when a decimal number, whose notation is valid, lies between -1 and 1.
bool is_fraction(std::string_view text) {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  std::int64_t exponent = 0;
  if (e < text.size()) {
    std::string_view digits = text.substr(e + 1);
    if (digits.front() == '+') digits.remove_prefix(1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (read.ec != std::errc()) return digits.front() == '-';
  }
  const std::size_t first = text.find_first_of("123456789");
  const std::size_t point = std::min(text.find('.'), e);
  if (first >= e) return true;
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  return place + exponent <= 0;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative || (!digits.empty() && digits.front() == '+')) digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  double value = 0;
  const std::string word = base::to_lower(digits);
  if (word == "inf" || word == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (word == "nan" && digits.size() == text.size()) {
    return std::numeric_limits<double>::quiet_NaN();
  } else {
    if (digits.front() != '.' && (digits.front() < '0' || digits.front() > '9')) {
      return std::nullopt;
    }
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ptr != digits.data() + digits.size()) return std::nullopt;
    if (result.ec == std::errc::result_out_of_range) {
      if (!is_fraction(digits)) return std::nullopt;
      value = 0;
    } else if (result.ec != std::errc()) {
      return std::nullopt;
    }
  }
  return negative ? -value : value;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  if (digits.empty() || (digits.size() != text.size() && digits.front() == '-'))
    return std::nullopt;
  std::int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc() || result.ptr != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> truncate(double value) {
  // Both bounds themselves are refused, as in the published implementation: the doubles next to
  // them cannot be told from out of range.
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (!(value > -kTwoTo63 && value < kTwoTo63)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

namespace lib {

namespace {

Outcome int_of_double(Arguments args, CallContext&) {
  const auto value = truncate(args[0].node().as_real());
  return value ? give(*value) : fail("the double does not fit an int");
}

Outcome int_of_string(Arguments args, CallContext&) {
  const auto value = parse_int(args[0].node().as_string());
  return value ? give(*value)
               : fail("`" + std::string(args[0].node().as_string()) + "` is no 64-bit integer");
}

Outcome double_of_string(Arguments args, CallContext&) {
  const auto value = parse_double(args[0].node().as_string());
  return value ? give(*value)
               : fail("`" + std::string(args[0].node().as_string()) + "` is no number");
}

Outcome bool_of_string(Arguments args, CallContext&) {
  const std::string_view text = args[0].node().as_string();
  for (const char* word : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == word) return give(true);
  }
  for (const char* word : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == word) return give(false);
  }
  return fail("`" + std::string(text) + "` is no bool");
}

Outcome same(Arguments args, CallContext&) {
  return give(args[0]);
}

Outcome type_of_value(Arguments args, CallContext&) {
  return give(Value(std::make_shared<const TypeValue>(published_type_name(args[0]))));
}

void add_conversions(Functions& to) {
  const std::vector<Type> none;
  function(to, "int", {integer()}, integer(), same);
  function(to, "int", {real()}, integer(), int_of_double);
  function(to, "int", {string()}, integer(), int_of_string);
  function(to, "double", {real()}, real(), same);
  function(to, "double", {integer()}, real(),
           [](Arguments args, CallContext&) { return give(args[0].node().as_real()); });
  function(to, "double", {string()}, real(), double_of_string);
  function(to, "bool", {boolean()}, boolean(), same);
  function(to, "bool", {string()}, boolean(), bool_of_string);
  function(to, "string", {string()}, string(), same);
  function(to, "string", {boolean()}, string(), [](Arguments args, CallContext& context) {
    return give_text(context, args[0].node().as_boolean() ? "true" : "false");
  });
  function(to, "string", {integer()}, string(), [](Arguments args, CallContext& context) {
    return give_text(context, std::to_string(args[0].node().as_integer()));
  });
  function(to, "string", {real()}, string(), [](Arguments args, CallContext& context) {
    return give_text(context, double_text(args[0].node().as_real()));
  });
  function(to, "dyn", {dyn()}, dyn(), same);
  function(to, "type", {dyn()}, Type::simple(TypeKind::type), type_of_value);
}

/// What a type has before anything is set: null, false, zero, nothing in it.
bool is_zero(const Value& value) {
  if (!value.is_node()) {
    const auto* duration = dynamic_cast<const Duration*>(value.opaque());
    return duration != nullptr && duration->nanoseconds == 0;
  }
  const yaml::Node& node = value.node();
  switch (node.kind()) {
    case yaml::Kind::null:
      return true;
    case yaml::Kind::boolean:
      return !node.as_boolean();
    case yaml::Kind::integer:
    case yaml::Kind::real:
      return node.as_real() == 0;
    default:
      return node.size() == 0;
  }
}

void add_optionals(Functions& to) {
  const Type optional = Type::optional(dyn());
  function(to, "optional.none", {}, Type::optional(Type::free()), [](Arguments, CallContext&) {
    return give(Value(std::make_shared<const OptionalValue>()));
  });
  function(
      to, "optional.ofNonZeroValue", {dyn()}, optional,
      [](Arguments args, CallContext&) {
        return give(Value(is_zero(args[0]) ? std::make_shared<const OptionalValue>()
                                           : std::make_shared<const OptionalValue>(args[0])));
      },
      [](std::span<const Type> types) { return Type::optional(types[0]); });
  function(
      to, "optional.of", {dyn()}, optional,
      [](Arguments args, CallContext&) {
        return give(Value(std::make_shared<const OptionalValue>(args[0])));
      },
      [](std::span<const Type> types) { return Type::optional(types[0]); });
  method(to, "hasValue", {optional}, boolean(),
         [](Arguments args, CallContext&) { return give(as<OptionalValue>(args[0]).present); });
  const ResultOf content = [](std::span<const Type> types) { return types[0].element(); };
  method(
      to, "value", {optional}, dyn(),
      [](Arguments args, CallContext&) {
        const auto& value = as<OptionalValue>(args[0]);
        return value.present ? give(value.value) : fail("the optional has no value");
      },
      content);
  method(
      to, "orValue", {optional, dyn()}, dyn(),
      [](Arguments args, CallContext&) {
        const auto& value = as<OptionalValue>(args[0]);
        return give(value.present ? value.value : args[1]);
      },
      content);
  method(
      to, "or", {optional, optional}, optional,
      [](Arguments args, CallContext&) {
        return give(as<OptionalValue>(args[0]).present ? args[0] : args[1]);
      },
      [](std::span<const Type> types) { return types[0]; });
}

}  // namespace

void add_core(Functions& to) {
  both(to, "size", {string()}, integer(), [](Arguments args, CallContext& context) {
    const std::string_view text = args[0].node().as_string();
    if (!context.charge(text.size() / 64)) return exhausted();
    return give(static_cast<std::int64_t>(base::code_points(text)));
  });
  both(to, "size", {list()}, integer(), [](Arguments args, CallContext&) {
    return give(static_cast<std::int64_t>(ListView::of(args[0])->size()));
  });
  both(to, "size", {map()}, integer(), [](Arguments args, CallContext&) {
    return give(static_cast<std::int64_t>(MapView::of(args[0])->size()));
  });
  add_conversions(to);
  add_optionals(to);
  function(to, "omit", {}, dyn(), [](Arguments, CallContext&) { return give(Value::omit()); });
}

}  // namespace lib
}  // namespace gpuctl::cel
