// Loops over lists and maps; looking into optionals.
#include <algorithm>
#include <optional>

#include "cel/collections.hpp"
#include "cel/evaluator.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

namespace {
// Sorting compares each item several times.
constexpr std::uint64_t kStepsPerSortedItem = 4;
}  // namespace

/// What a macro loops over.
struct Evaluator::Range {
  Value value;  // keeps what the views look at
  std::optional<ListView> list = std::nullopt;
  std::optional<MapView> map = std::nullopt;

  std::size_t size() const { return list ? list->size() : map->size(); }
  /// The key of a map entry, the position of a list item.
  Value key(std::size_t i) const {
    if (map) return map->key(i);
    return yaml::Node::integer(static_cast<std::int64_t>(i));
  }
  Value item(std::size_t i) const { return list ? (*list)[i] : map->value(i); }
};

bool Evaluator::macro(const Code& code, Value& out) {
  if (code.macro == Macro::opt_map || code.macro == Macro::opt_flat_map) {
    return look_into(code, out);
  }
  Range range;
  if (!run(code.args[0], range.value)) return false;
  range.list = ListView::of(range.value);
  if (!range.list) range.map = MapView::of(range.value);
  if (!range.list && (!range.map || code.macro == Macro::sort_by)) {
    return fail(code.args[0], "`" + name_of(code) + "` wants a list" +
                                  (code.macro == Macro::sort_by ? "" : " or a map") + ", not " +
                                  type_name_of(range.value));
  }
  switch (code.macro) {
    case Macro::all:
    case Macro::exists:
    case Macro::exists_one:
      return quantifier(code, range, out);
    case Macro::map:
    case Macro::filter:
    case Macro::transform_list:
      return collect_list(code, range, out);
    case Macro::transform_map:
    case Macro::transform_map_entry:
      return collect_map(code, range, out);
    case Macro::sort_by:
      return sort_by(code, range, out);
    default:
      return fail(code, "unknown macro");
  }
}

/// `optMap` and `optFlatMap`.
bool Evaluator::look_into(const Code& code, Value& out) {
  Value target;
  if (!run(code.args[0], target)) return false;
  const auto* optional = dynamic_cast<const OptionalValue*>(target.opaque());
  if (optional == nullptr) {
    return fail(code.args[0],
                "`" + name_of(code) + "` wants an optional, not " + type_name_of(target));
  }
  if (!optional->present) {
    out = std::move(target);
    return true;
  }
  locals_[code.slot] = optional->value;
  Value result;
  if (!run(code.args[1], result)) return false;
  if (code.macro == Macro::opt_map) {
    out = Value(std::make_shared<const OptionalValue>(std::move(result)));
    return true;
  }
  if (dynamic_cast<const OptionalValue*>(result.opaque()) == nullptr) {
    return fail(code.args[1],
                "the body of `optFlatMap` must be optional, not " + type_name_of(result));
  }
  out = std::move(result);
  return true;
}

bool Evaluator::sort_by(const Code& code, const Range& range, Value& out) {
  struct Keyed {
    Value key;
    Value item;
  };
  std::vector<Keyed> sorted;
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (!charge(code, kStepsPerSortedItem)) return false;
    set_variables(code, range, i);
    Value key;
    if (!run(code.args[1], key)) return false;
    const int result = compare(key, sorted.empty() ? key : sorted.front().key);
    if (result > 1) {
      return fail(code.args[1], "`sortBy` cannot order " +
                                    (result == 2 ? "NaN" : "keys of type " + type_name_of(key)));
    }
    sorted.push_back({std::move(key), range.item(i)});
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Keyed& a, const Keyed& b) { return compare(a.key, b.key) < 0; });
  std::vector<Value> items;
  items.reserve(sorted.size());
  for (Keyed& entry : sorted) items.push_back(std::move(entry.item));
  out = make_list(std::move(items), arena_);
  return true;
}

void Evaluator::set_variables(const Code& code, const Range& range, std::size_t i) {
  if (code.variables == 2) {
    locals_[code.slot] = range.key(i);
    locals_[code.slot + 1] = range.item(i);
  } else {
    locals_[code.slot] = range.map ? range.key(i) : range.item(i);
  }
}

bool Evaluator::test(const Code& code, bool& result) {
  Value value;
  if (!run(code, value)) return false;
  if (!value.is_node() || !value.node().is_boolean()) {
    return fail(code, "a test must be bool, not " + type_name_of(value));
  }
  result = value.node().as_boolean();
  return true;
}

/// The test of a filter. An item that is left out is no source of the result.
bool Evaluator::keeps(const Code& code, bool& keep) {
  const std::size_t read = reads_ == nullptr ? 0 : reads_->size();
  if (!test(code.args[1], keep)) return false;
  if (!keep && reads_ != nullptr) reads_->resize(read);
  return true;
}

bool Evaluator::quantifier(const Code& code, const Range& range, Value& out) {
  const bool one = code.macro == Macro::exists_one;
  const bool absorbing = code.macro == Macro::exists;  // the answer that one item alone decides
  EvalError first;
  bool failed = false;
  std::size_t count = 0;
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (!charge(code, 1)) return false;
    set_variables(code, range, i);
    bool holds = false;
    if (!test(code.args[1], holds)) {
      // As with `&&` and `||`, another item may still decide; `exists_one` has to see them all.
      if (one || error_.kind == EvalError::Kind::budget) return false;
      if (!failed) first = std::move(error_);
      failed = true;
    } else if (one) {
      count += holds ? 1 : 0;
    } else if (holds == absorbing) {
      out = yaml::Node::boolean(absorbing);
      return true;
    }
  }
  if (failed) {
    error_ = std::move(first);
    return false;
  }
  out = yaml::Node::boolean(one ? count == 1 : !absorbing);
  return true;
}

bool Evaluator::collect_list(const Code& code, const Range& range, Value& out) {
  std::vector<Value> items;
  const bool filter = code.macro == Macro::filter;
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (!charge(code, 1)) return false;
    set_variables(code, range, i);
    if (filter || code.filtered) {
      bool keep = false;
      if (!keeps(code, keep)) return false;
      if (!keep) continue;
    }
    if (filter) {
      items.push_back(locals_[code.slot]);
      continue;
    }
    Value item;
    if (!run(code.args.back(), item)) return false;
    items.push_back(std::move(item));
  }
  out = make_list(std::move(items), arena_);
  return true;
}

bool Evaluator::collect_map(const Code& code, const Range& range, Value& out) {
  std::vector<MapEntry> entries;
  const auto add = [&](const yaml::Node& key, Value value) {
    if (!charge(code, 1 + entries.size() / 8)) return false;
    for (const MapEntry& entry : entries) {
      if (yaml::equal(entry.key, key)) return fail(code, "repeated key in `transformMapEntry`");
    }
    entries.push_back({key, std::move(value)});
    return true;
  };
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (!charge(code, 1)) return false;
    set_variables(code, range, i);
    if (code.filtered) {
      bool keep = false;
      if (!keeps(code, keep)) return false;
      if (!keep) continue;
    }
    Value item;
    if (!run(code.args.back(), item)) return false;
    if (item.is_omit()) continue;
    if (code.macro == Macro::transform_map) {
      // Keys of the range are distinct already.
      entries.push_back({range.key(i).node(), std::move(item)});
      continue;
    }
    const auto made = MapView::of(item);
    if (!made) {
      return fail(code.args.back(),
                  "`transformMapEntry` wants a map for each item, not " + type_name_of(item));
    }
    for (std::size_t k = 0; k < made->size(); ++k) {
      if (!add(made->key(k), made->value(k))) return false;
    }
  }
  out = make_map(std::move(entries), arena_);
  return true;
}

}  // namespace gpuctl::cel
