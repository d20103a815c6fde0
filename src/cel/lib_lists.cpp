// Functions on lists and maps.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "cel/collections.hpp"
#include "cel/duration.hpp"
#include "cel/evaluator.hpp"
#include "cel/functions.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel::lib {

namespace {

/// The list argument, which the parameter list has promised.
ListView items(const Value& value) {
  return *ListView::of(value);
}

/// The list's own type, for functions that keep or pick items.
Type own_type(std::span<const Type> types) {
  return types[0];
}
Type element_type(std::span<const Type> types) {
  return types[0].element();
}
Type optional_element_type(std::span<const Type> types) {
  return Type::optional(types[0].element());
}

std::vector<Value> copy(const ListView& list) {
  std::vector<Value> values;
  values.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) values.push_back(list[i]);
  return values;
}

Outcome give_list(std::vector<Value> values, CallContext& context) {
  return give(make_list(std::move(values), context.arena));
}

/// Whether `item` is among `values`; nothing when the steps run out.
template <typename Range>
std::optional<bool> among(const Value& item, const Range& values, CallContext& context) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto same = context.equal(item, values[i]);
    if (!same) return std::nullopt;
    if (*same) return true;
  }
  return false;
}

Outcome distinct(Arguments args, CallContext& context) {
  const ListView list = items(args[0]);
  std::vector<Value> kept;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!context.charge(kStepsPerItem)) return exhausted();
    const auto known = among(list[i], kept, context);
    if (!known) return exhausted();
    if (!*known) kept.push_back(list[i]);
  }
  return give_list(std::move(kept), context);
}

/// Why the items cannot be put in order; empty when they can. NaN has no place in an order.
std::string not_ordered(const ListView& list, std::string_view function) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (const int result = compare(list[i], list[0]); result > 1) {
      return "`" + std::string(function) + "` cannot order " +
             (result == 2 ? "NaN" : type_name_of(list[0]) + " and " + type_name_of(list[i]));
    }
  }
  return {};
}

Outcome sort(Arguments args, CallContext& context) {
  const ListView list = items(args[0]);
  if (!context.charge(list.size() * (kStepsPerItem + std::bit_width(list.size())))) {
    return exhausted();
  }
  if (std::string reason = not_ordered(list, "sort"); !reason.empty()) {
    return fail(std::move(reason));
  }
  std::vector<Value> sorted = copy(list);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Value& a, const Value& b) { return compare(a, b) < 0; });
  return give_list(std::move(sorted), context);
}

Outcome is_sorted(Arguments args, CallContext& context) {
  const ListView list = items(args[0]);
  if (!context.charge(list.size())) return exhausted();
  if (std::string reason = not_ordered(list, "isSorted"); !reason.empty()) {
    return fail(std::move(reason));
  }
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (compare(list[i], list[i - 1]) < 0) return give(false);
  }
  return give(true);
}

template <int Sign>
Outcome extreme(Arguments args, CallContext& context) {
  const ListView list = items(args[0]);
  const char* name = Sign < 0 ? "min" : "max";
  if (!context.charge(list.size())) return exhausted();
  if (list.size() == 0) return fail("`" + std::string(name) + "` of an empty list");
  if (std::string reason = not_ordered(list, name); !reason.empty()) {
    return fail(std::move(reason));
  }
  Value best = list[0];
  for (std::size_t i = 1; i < list.size(); ++i) {
    Value item = list[i];
    if (compare(item, best) == Sign) best = std::move(item);
  }
  return give(std::move(best));
}

Outcome sum_of_durations(const ListView& list) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value item = list[i];
    const auto* duration = dynamic_cast<const Duration*>(item.opaque());
    if (duration == nullptr) return fail("`sum` cannot add " + type_name_of(item));
    if (__builtin_add_overflow(total, duration->nanoseconds, &total)) {
      return fail("duration overflow");
    }
  }
  return give(Value(std::make_shared<const Duration>(total)));
}

Outcome sum(Arguments args, CallContext& context) {
  const ListView list = items(args[0]);
  if (!context.charge(list.size())) return exhausted();
  if (list.size() != 0 && dynamic_cast<const Duration*>(list[0].opaque()) != nullptr) {
    return sum_of_durations(list);
  }
  std::int64_t whole = 0;
  double real_sum = 0;
  bool is_real = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value value = list[i];
    if (!value.is_node() || !value.node().is_number()) {
      return fail("`sum` cannot add " + type_name_of(value));
    }
    const yaml::Node& item = value.node();
    if (item.is_real() && !is_real) {
      is_real = true;
      real_sum = static_cast<double>(whole);
    }
    if (is_real) {
      real_sum += item.as_real();
    } else if (__builtin_add_overflow(whole, item.as_integer(), &whole)) {
      return fail("integer overflow");
    }
  }
  return is_real ? give(real_sum) : give(whole);
}

Outcome flatten_to(Arguments args, CallContext& context, std::int64_t depth) {
  if (depth < 0) return fail("the depth of `flatten` must not be negative");
  std::vector<Value> flat = copy(items(args[0]));
  // Values nest to a bounded depth: the loop ends when no item is a list any more.
  bool nested = true;
  for (; depth > 0 && nested; --depth) {
    nested = false;
    std::vector<Value> next;
    for (const Value& item : flat) {
      const auto inner = ListView::of(item);
      if (!context.charge(kStepsPerItem * (1 + (inner ? inner->size() : 0)))) return exhausted();
      if (!inner) {
        next.push_back(item);
        continue;
      }
      nested = true;
      for (std::size_t i = 0; i < inner->size(); ++i) next.push_back((*inner)[i]);
    }
    flat = std::move(next);
  }
  return give_list(std::move(flat), context);
}

Type flattened_once(std::span<const Type> types) {
  const Type element = types[0].element();
  return element.kind() == TypeKind::list ? Type::list(element.element()) : Type::list(dyn());
}

Outcome slice(Arguments args, CallContext& context) {
  const ListView list = items(args[0]);
  const std::int64_t begin = integer_of(args[1]);
  const std::int64_t end = integer_of(args[2]);
  if (begin < 0 || end < begin || static_cast<std::uint64_t>(end) > list.size()) {
    return fail("slice " + std::to_string(begin) + " to " + std::to_string(end) +
                " is out of range, the list has " + std::to_string(list.size()) + " items");
  }
  if (!context.charge(static_cast<std::uint64_t>(end - begin) * kStepsPerItem)) return exhausted();
  std::vector<Value> part;
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    part.push_back(list[i]);
  }
  return give_list(std::move(part), context);
}

Outcome reverse_list(Arguments args, CallContext& context) {
  const ListView list = items(args[0]);
  if (!context.charge(list.size() * kStepsPerItem)) return exhausted();
  std::vector<Value> reversed = copy(list);
  std::reverse(reversed.begin(), reversed.end());
  return give_list(std::move(reversed), context);
}

Outcome range(Arguments args, CallContext& context) {
  const std::int64_t count = integer_of(args[0]);
  if (count < 0) return fail("`lists.range` of a negative number");
  if (static_cast<std::uint64_t>(count) > kMostSteps ||
      !context.charge(static_cast<std::uint64_t>(count) * kStepsPerItem)) {
    return exhausted();
  }
  std::vector<yaml::Node> numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(yaml::Node::integer(i));
  return give(context.arena.list(numbers));
}

template <bool Last>
Outcome position(Arguments args, CallContext& context) {
  const ListView list = items(args[0]);
  std::int64_t found = -1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto same = context.equal(list[i], args[1]);
    if (!same) return exhausted();
    if (!*same) continue;
    found = static_cast<std::int64_t>(i);
    if (!Last) break;
  }
  return give(found);
}

template <bool Last>
Outcome end_item(Arguments args, CallContext&) {
  const ListView list = items(args[0]);
  if (list.size() == 0) return give(Value(std::make_shared<const OptionalValue>()));
  return give(Value(std::make_shared<const OptionalValue>(list[Last ? list.size() - 1 : 0])));
}

/// The contents of a list of optionals, without the empty ones.
Outcome unwrap(Arguments args, CallContext& context) {
  const ListView list = items(args[0]);
  if (!context.charge(list.size() * kStepsPerItem)) return exhausted();
  std::vector<Value> contents;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value item = list[i];
    const auto* optional = dynamic_cast<const OptionalValue*>(item.opaque());
    if (optional == nullptr) return fail("an item is no optional but " + type_name_of(item));
    if (optional->present) contents.push_back(optional->value);
  }
  return give_list(std::move(contents), context);
}

Type unwrapped_type(std::span<const Type> types) {
  return Type::list(types[0].element().element());
}

/// Whether every item of `inner` is in `outer`; nothing when the steps run out.
std::optional<bool> subset(const ListView& inner, const ListView& outer, CallContext& context) {
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const auto found = among(inner[i], outer, context);
    if (!found || !*found) return found;
  }
  return true;
}

Outcome give_answer(const std::optional<bool>& answer) {
  return answer ? give(*answer) : exhausted();
}

Outcome sets_contains(Arguments args, CallContext& context) {
  return give_answer(subset(items(args[1]), items(args[0]), context));
}

Outcome sets_equivalent(Arguments args, CallContext& context) {
  const auto one = subset(items(args[1]), items(args[0]), context);
  if (!one || !*one) return give_answer(one);
  return give_answer(subset(items(args[0]), items(args[1]), context));
}

Outcome sets_intersects(Arguments args, CallContext& context) {
  const ListView first = items(args[0]);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto found = among(first[i], items(args[1]), context);
    if (!found || *found) return give_answer(found);
  }
  return give(false);
}

Outcome merge(Arguments args, CallContext& context) {
  const MapView left = *MapView::of(args[0]);
  const MapView right = *MapView::of(args[1]);
  if (!context.charge((left.size() + right.size()) * kStepsPerItem)) return exhausted();
  std::vector<MapEntry> merged;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const yaml::Node key = left.key(i);
    if (!context.charge(right.find_cost(key))) return exhausted();
    const auto other = right.find(key);
    merged.push_back({key, other ? *other : left.value(i)});
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    const yaml::Node key = right.key(i);
    if (!context.charge(left.find_cost(key))) return exhausted();
    if (!left.find(key)) merged.push_back({key, right.value(i)});
  }
  return give(make_map(std::move(merged), context.arena));
}

Type merged_type(std::span<const Type> types) {
  const auto value = [](const Type& type) {
    return type.kind() == TypeKind::map ? type.element() : Type::dyn();
  };
  return Type::map(join(types[0].key(), types[1].key()), join(value(types[0]), value(types[1])));
}

}  // namespace

void add_lists(Functions& to) {
  method(to, "distinct", {list()}, list(), distinct, own_type);
  method(to, "sort", {list()}, list(), sort, own_type);
  method(to, "isSorted", {list()}, boolean(), is_sorted);
  method(to, "min", {list()}, dyn(), extreme<-1>, element_type);
  method(to, "max", {list()}, dyn(), extreme<1>, element_type);
  method(to, "sum", {list()}, dyn(), sum, element_type);
  method(
      to, "flatten", {list()}, list(),
      [](Arguments args, CallContext& context) { return flatten_to(args, context, 1); },
      flattened_once);
  method(to, "flatten", {list(), integer()}, list(), [](Arguments args, CallContext& context) {
    return flatten_to(args, context, integer_of(args[1]));
  });
  method(to, "slice", {list(), integer(), integer()}, list(), slice, own_type);
  method(to, "reverse", {list()}, list(), reverse_list, own_type);
  method(to, "indexOf", {list(), dyn()}, integer(), position<false>);
  method(to, "lastIndexOf", {list(), dyn()}, integer(), position<true>);
  method(to, "first", {list()}, Type::optional(dyn()), end_item<false>, optional_element_type);
  method(to, "last", {list()}, Type::optional(dyn()), end_item<true>, optional_element_type);
  method(to, "unwrapOpt", {Type::list(Type::optional(dyn()))}, list(), unwrap, unwrapped_type);
  function(to, "optional.unwrap", {Type::list(Type::optional(dyn()))}, list(), unwrap,
           unwrapped_type);
  function(to, "lists.range", {integer()}, Type::list(integer()), range);
  function(to, "sets.contains", {list(), list()}, boolean(), sets_contains);
  function(to, "sets.equivalent", {list(), list()}, boolean(), sets_equivalent);
  function(to, "sets.intersects", {list(), list()}, boolean(), sets_intersects);
  method(to, "merge", {map(), map()}, map(), merge, merged_type);
}

}  // namespace gpuctl::cel::lib
