// Functions on lists and maps.
#include <algorithm>
#include <limits>

#include "cel/evaluator.hpp"
#include "cel/functions.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel::lib {

namespace {

using Nodes = std::span<const yaml::Node>;

Nodes items(const Value& value) {
  return value.node().items();
}
std::int64_t number(const Value& value) {
  return value.node().as_integer();
}

/// The list's own type, for functions that keep or pick items.
Type own_type(std::span<const Type> types) {
  return types[0];
}
Type element_type(std::span<const Type> types) {
  return types[0].element();
}

/// Steps for comparing one item with `count` others.
std::uint64_t search_cost(std::size_t count) {
  return 1 + count / 8;
}

Outcome distinct(Arguments args, CallContext& context) {
  std::vector<yaml::Node> kept;
  for (const yaml::Node& item : items(args[0])) {
    if (!context.charge(search_cost(kept.size()))) return exhausted();
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const yaml::Node& other) {
      return yaml::equal(item, other);
    });
    if (!known) kept.push_back(item);
  }
  return give(context.arena.list(kept));
}

/// Why the items cannot be put in order; empty when they can. NaN has no place in an order.
std::string not_ordered(Nodes list, std::string_view function) {
  for (const yaml::Node& item : list) {
    if (const int result = compare(item, list.front()); result > 1) {
      return "`" + std::string(function) + "` cannot order " +
             (result == 2 ? "NaN" : type_name_of(list.front()) + " and " + type_name_of(item));
    }
  }
  return {};
}

Outcome sort(Arguments args, CallContext& context) {
  const Nodes list = items(args[0]);
  if (!context.charge(list.size() * 4)) return exhausted();
  if (std::string reason = not_ordered(list, "sort"); !reason.empty()) {
    return fail(std::move(reason));
  }
  std::vector<yaml::Node> sorted(list.begin(), list.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const yaml::Node& a, const yaml::Node& b) { return compare(a, b) < 0; });
  return give(context.arena.list(sorted));
}

Outcome is_sorted(Arguments args, CallContext& context) {
  const Nodes list = items(args[0]);
  if (!context.charge(list.size())) return exhausted();
  if (std::string reason = not_ordered(list, "isSorted"); !reason.empty()) {
    return fail(std::move(reason));
  }
  return give(
      std::is_sorted(list.begin(), list.end(),
                     [](const yaml::Node& a, const yaml::Node& b) { return compare(a, b) < 0; }));
}

template <int Sign>
Outcome extreme(Arguments args, CallContext& context) {
  const Nodes list = items(args[0]);
  const char* name = Sign < 0 ? "min" : "max";
  if (!context.charge(list.size())) return exhausted();
  if (list.empty()) return fail("`" + std::string(name) + "` of an empty list");
  if (std::string reason = not_ordered(list, name); !reason.empty()) {
    return fail(std::move(reason));
  }
  const yaml::Node* best = &list.front();
  for (const yaml::Node& item : list) {
    if (compare(item, *best) == Sign) best = &item;
  }
  return give(*best);
}

Outcome sum(Arguments args, CallContext& context) {
  const Nodes list = items(args[0]);
  if (!context.charge(list.size())) return exhausted();
  std::int64_t whole = 0;
  double real_sum = 0;
  bool is_real = false;
  for (const yaml::Node& item : list) {
    if (!item.is_number()) return fail("`sum` cannot add " + type_name_of(item));
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
  std::vector<yaml::Node> flat(items(args[0]).begin(), items(args[0]).end());
  // Documents nest to a bounded depth: the loop ends when no item is a list any more.
  bool nested = true;
  for (; depth > 0 && nested; --depth) {
    nested = false;
    std::vector<yaml::Node> next;
    for (const yaml::Node& item : flat) {
      if (!context.charge(1 + item.items().size())) return exhausted();
      if (item.is_list()) {
        next.insert(next.end(), item.items().begin(), item.items().end());
        nested = true;
      } else {
        next.push_back(item);
      }
    }
    flat = std::move(next);
  }
  return give(context.arena.list(flat));
}

Type flattened_once(std::span<const Type> types) {
  const Type element = types[0].element();
  return element.kind() == TypeKind::list ? Type::list(element.element()) : Type::list(dyn());
}

Outcome slice(Arguments args, CallContext& context) {
  const Nodes list = items(args[0]);
  const std::int64_t begin = number(args[1]);
  const std::int64_t end = number(args[2]);
  if (begin < 0 || end < begin || static_cast<std::uint64_t>(end) > list.size()) {
    return fail("slice " + std::to_string(begin) + " to " + std::to_string(end) +
                " is out of range, the list has " + std::to_string(list.size()) + " items");
  }
  const auto part =
      list.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  if (!context.charge(part.size())) return exhausted();
  return give(context.arena.list(part));
}

Outcome reverse(Arguments args, CallContext& context) {
  if (!context.charge(items(args[0]).size())) return exhausted();
  std::vector<yaml::Node> reversed(items(args[0]).rbegin(), items(args[0]).rend());
  return give(context.arena.list(reversed));
}

Outcome range(Arguments args, CallContext& context) {
  const std::int64_t count = number(args[0]);
  if (count < 0) return fail("`lists.range` of a negative number");
  if (!context.charge(static_cast<std::uint64_t>(count))) return exhausted();
  std::vector<yaml::Node> numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(yaml::Node::integer(i));
  return give(context.arena.list(numbers));
}

template <bool Last>
Outcome position(Arguments args, CallContext& context) {
  const Nodes list = items(args[0]);
  if (!context.charge(list.size())) return exhausted();
  std::int64_t found = -1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!equal(list[i], args[1])) continue;
    found = static_cast<std::int64_t>(i);
    if (!Last) break;
  }
  return give(found);
}

Outcome merge(Arguments args, CallContext& context) {
  const yaml::Node& left = args[0].node();
  const yaml::Node& right = args[1].node();
  if (!context.charge(left.size() + right.size())) return exhausted();
  std::vector<yaml::Entry> merged;
  for (const yaml::Entry& entry : left.entries()) {
    const yaml::Node* other = right.find(entry.key);
    merged.push_back({entry.key, other == nullptr ? entry.value : *other});
  }
  for (const yaml::Entry& entry : right.entries()) {
    if (left.find(entry.key) == nullptr) merged.push_back(entry);
  }
  return give(context.arena.map(merged));
}

Type merged_type(std::span<const Type> types) {
  if (types[0].is_dyn() || types[1].is_dyn()) return map();
  const auto value = [](const Type& type) {
    return type.kind() == TypeKind::map ? type.element() : Type::dyn();
  };
  const bool same = value(types[0]).text() == value(types[1]).text();
  return Type::map(types[0].key().text() == types[1].key().text() ? types[0].key() : dyn(),
                   same ? value(types[0]) : dyn());
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
    return flatten_to(args, context, number(args[1]));
  });
  method(to, "slice", {list(), integer(), integer()}, list(), slice, own_type);
  method(to, "reverse", {list()}, list(), reverse, own_type);
  method(to, "indexOf", {list(), dyn()}, integer(), position<false>);
  method(to, "lastIndexOf", {list(), dyn()}, integer(), position<true>);
  function(to, "lists.range", {integer()}, Type::list(integer()), range);
  method(to, "merge", {map(), map()}, map(), merge, merged_type);
}

}  // namespace gpuctl::cel::lib
