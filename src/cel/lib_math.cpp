// The published math extension, as far as numbers in manifests need it.
#include <cmath>
#include <limits>

#include "cel/collections.hpp"
#include "cel/evaluator.hpp"
#include "cel/functions.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel::lib {

namespace {

/// Greatest (Sign 1) or least (Sign -1); the first of equal ones.
template <int Sign>
Outcome pick(std::span<const Value> numbers) {
  const char* name = Sign > 0 ? "math.greatest" : "math.least";
  if (numbers.empty()) return fail("`" + std::string(name) + "` of nothing");
  const Value* best = numbers.data();
  for (const Value& number : numbers) {
    if (!number.is_node() || !number.node().is_number()) {
      return fail("`" + std::string(name) + "` cannot take " + type_name_of(number));
    }
    if (compare(number, *best) == Sign) best = &number;
  }
  return give(*best);
}

template <int Sign>
Outcome pick_argument(Arguments args, CallContext&) {
  return pick<Sign>(args);
}

template <int Sign>
Outcome pick_item(Arguments args, CallContext& context) {
  const ListView items = *ListView::of(args[0]);
  if (!context.charge(items.size())) return exhausted();
  std::vector<Value> numbers;
  for (std::size_t i = 0; i < items.size(); ++i) numbers.push_back(items[i]);
  return pick<Sign>(numbers);
}

Type picked(std::span<const Type> types) {
  for (const Type& type : types) {
    if (type.kind() != types[0].kind()) return dyn();
  }
  return types[0].kind() == TypeKind::integer || types[0].kind() == TypeKind::real ? types[0]
                                                                                   : dyn();
}

template <int Sign>
void add_pick(Functions& to, const char* name) {
  // Before the overload for any value, so that a list is taken as the numbers in it.
  function(to, name, {list()}, dyn(), pick_item<Sign>,
           [](std::span<const Type> types) { return types[0].element(); });
  Function any;
  any.name = name;
  any.params = {dyn()};
  any.variadic = true;
  any.pure = true;
  any.views = true;
  any.result_of = picked;
  any.call = pick_argument<Sign>;
  to.add(std::move(any));
}

template <double (*Round)(double)>
Outcome rounded(Arguments args, CallContext&) {
  return give(Round(args[0].node().as_real()));
}

double up(double value) {
  return std::ceil(value);
}
double down(double value) {
  return std::floor(value);
}
double half_away(double value) {
  return std::round(value);
}
double cut(double value) {
  return std::trunc(value);
}

bool is_nan(double value) {
  return std::isnan(value);
}
bool is_infinite(double value) {
  return std::isinf(value);
}
bool is_finite(double value) {
  return std::isfinite(value);
}

template <bool (*Test)(double)>
Outcome real_test(Arguments args, CallContext&) {
  return give(Test(args[0].node().as_real()));
}

std::uint64_t bits(const Value& value) {
  return static_cast<std::uint64_t>(value.node().as_integer());
}

Outcome give_bits(std::uint64_t value) {
  return give(static_cast<std::int64_t>(value));
}

/// Shifts work on the bits, without sign; by 64 and more nothing is left.
template <bool Left>
Outcome shift(Arguments args, CallContext&) {
  const std::int64_t by = args[1].node().as_integer();
  if (by < 0) return fail("a shift by a negative number");
  if (by >= 64) return give(std::int64_t{0});
  return give_bits(Left ? bits(args[0]) << by : bits(args[0]) >> by);
}

void add_bits(Functions& to) {
  const std::vector<Type> two = {integer(), integer()};
  function(to, "math.bitAnd", two, integer(),
           [](Arguments args, CallContext&) { return give_bits(bits(args[0]) & bits(args[1])); });
  function(to, "math.bitOr", two, integer(),
           [](Arguments args, CallContext&) { return give_bits(bits(args[0]) | bits(args[1])); });
  function(to, "math.bitXor", two, integer(),
           [](Arguments args, CallContext&) { return give_bits(bits(args[0]) ^ bits(args[1])); });
  function(to, "math.bitNot", {integer()}, integer(),
           [](Arguments args, CallContext&) { return give_bits(~bits(args[0])); });
  function(to, "math.bitShiftLeft", two, integer(), shift<true>);
  function(to, "math.bitShiftRight", two, integer(), shift<false>);
}

}  // namespace

void add_math(Functions& to) {
  add_pick<1>(to, "math.greatest");
  add_pick<-1>(to, "math.least");
  add_bits(to);
  function(to, "math.isNaN", {real()}, boolean(), real_test<is_nan>);
  function(to, "math.isInf", {real()}, boolean(), real_test<is_infinite>);
  function(to, "math.isFinite", {real()}, boolean(), real_test<is_finite>);
  function(to, "math.ceil", {real()}, real(), rounded<up>);
  function(to, "math.floor", {real()}, real(), rounded<down>);
  function(to, "math.round", {real()}, real(), rounded<half_away>);
  function(to, "math.trunc", {real()}, real(), rounded<cut>);
  function(to, "math.abs", {real()}, real(),
           [](Arguments args, CallContext&) { return give(std::fabs(args[0].node().as_real())); });
  function(to, "math.abs", {integer()}, integer(), [](Arguments args, CallContext&) {
    const std::int64_t value = args[0].node().as_integer();
    if (value == std::numeric_limits<std::int64_t>::min()) return fail("integer overflow");
    return give(value < 0 ? -value : value);
  });
  function(to, "math.sign", {real()}, real(), [](Arguments args, CallContext&) {
    const double value = args[0].node().as_real();
    return give(std::isnan(value) ? value : (value > 0 ? 1.0 : (value < 0 ? -1.0 : 0.0)));
  });
  function(to, "math.sign", {integer()}, integer(), [](Arguments args, CallContext&) {
    const std::int64_t value = args[0].node().as_integer();
    return give(std::int64_t{value > 0 ? 1 : (value < 0 ? -1 : 0)});
  });
}

}  // namespace gpuctl::cel::lib
