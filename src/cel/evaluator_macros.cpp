// Loops over lists and maps.
#include "cel/evaluator.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

/// What a macro loops over.
struct Evaluator::Range {
  Value value;  // keeps an opaque list alive
  const ValueList* values = nullptr;
  bool is_map = false;

  std::size_t size() const {
    return values != nullptr ? values->items.size() : value.node().size();
  }
  /// The key of a map entry, the position of a list item.
  Value key(std::size_t i) const {
    if (is_map) return value.node().entries()[i].key;
    return yaml::Node::integer(static_cast<std::int64_t>(i));
  }
  Value item(std::size_t i) const {
    if (values != nullptr) return values->items[i];
    return is_map ? value.node().entries()[i].value : value.node().items()[i];
  }
};

bool Evaluator::macro(const Code& code, Value& out) {
  Range range;
  if (!run(code.args[0], range.value)) return false;
  range.values = dynamic_cast<const ValueList*>(range.value.opaque());
  range.is_map = range.value.is_node() && range.value.node().is_map();
  if (range.values == nullptr && !range.is_map &&
      !(range.value.is_node() && range.value.node().is_list())) {
    return fail(code.args[0], "`" + code.expr->text + "` wants a list or a map, not " +
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
  }
  return fail(code, "unknown macro");
}

void Evaluator::bind(const Code& code, const Range& range, std::size_t i) {
  if (code.variables == 2) {
    locals_[code.slot] = range.key(i);
    locals_[code.slot + 1] = range.item(i);
  } else {
    locals_[code.slot] = range.is_map ? range.key(i) : range.item(i);
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
    bind(code, range, i);
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
    bind(code, range, i);
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
  return make_list(items, out);
}

bool Evaluator::collect_map(const Code& code, const Range& range, Value& out) {
  std::vector<yaml::Entry> entries;
  const auto add = [&](const yaml::Node& key, const yaml::Node& value) {
    if (!charge(code, 1 + entries.size() / 8)) return false;
    for (const yaml::Entry& entry : entries) {
      if (yaml::equal(entry.key, key)) return fail(code, "repeated key in `transformMapEntry`");
    }
    entries.push_back({key, value});
    return true;
  };
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (!charge(code, 1)) return false;
    bind(code, range, i);
    if (code.filtered) {
      bool keep = false;
      if (!keeps(code, keep)) return false;
      if (!keep) continue;
    }
    Value item;
    if (!run(code.args.back(), item)) return false;
    if (item.is_omit()) continue;
    if (!item.is_node()) {
      return fail(code.args.back(), "a map cannot hold a value of type " + type_name_of(item));
    }
    if (code.macro == Macro::transform_map) {
      // Keys of the range are distinct already.
      entries.push_back({range.key(i).node(), item.node()});
      continue;
    }
    if (!item.node().is_map()) {
      return fail(code.args.back(),
                  "`transformMapEntry` wants a map for each item, not " + type_name_of(item));
    }
    for (const yaml::Entry& entry : item.node().entries()) {
      if (!add(entry.key, entry.value)) return false;
    }
  }
  out = arena_.map(entries);
  return true;
}

}  // namespace gpuctl::cel
