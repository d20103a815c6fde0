// Fields, indexes, literals, optionals.
#include <cmath>

#include "cel/collections.hpp"
#include "cel/definitions.hpp"
#include "cel/evaluator.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

namespace {

Value empty_optional() {
  static const std::shared_ptr<const Opaque> empty = std::make_shared<const OptionalValue>();
  return Value(empty);
}

Value optional_of(Value value) {
  return Value(std::make_shared<const OptionalValue>(std::move(value)));
}

const OptionalValue* as_optional(const Value& value) {
  return value.is_node() ? nullptr : dynamic_cast<const OptionalValue*>(value.opaque());
}

std::string describe_key(const yaml::Node& key) {
  switch (key.kind()) {
    case yaml::Kind::string:
      return "`" + std::string(key.as_string()) + "`";
    case yaml::Kind::integer:
      return std::to_string(key.as_integer());
    case yaml::Kind::boolean:
      return key.as_boolean() ? "true" : "false";
    default:
      return "of type " + type_name_of(key);
  }
}

/// The position a list index means: an integer, or a double without fraction.
bool as_position(const Value& key, std::int64_t& position) {
  if (!key.is_node()) return false;
  const yaml::Node& node = key.node();
  if (node.is_integer()) {
    position = node.as_integer();
    return true;
  }
  if (!node.is_real() || node.as_real() != std::floor(node.as_real()) ||
      std::fabs(node.as_real()) > 1e15) {
    return false;
  }
  position = static_cast<std::int64_t>(node.as_real());
  return true;
}

}  // namespace

/// The node that stands for a variable, when it is one and needs no work.
const yaml::Node* Evaluator::node_of(std::size_t slot) const {
  if (slot >= variables_.size()) return nullptr;
  const Value* value = &variables_[slot];
  if (value->is_node()) return &value->node();
  const Deferred* deferred = as_deferred(*value);
  if (deferred == nullptr || reads_ != nullptr) return nullptr;  // what it read counts, too
  value = deferred->known();
  return value != nullptr && value->is_node() ? &value->node() : nullptr;
}

/// The node a chain of selections leads to, when it is all there; otherwise nullptr, and run()
/// finds out why.
const yaml::Node* Evaluator::peek(const Code& code) const {
  switch (code.op) {
    case Op::variable:
      return node_of(code.slot);
    case Op::local:
      return locals_[code.slot].is_node() ? &locals_[code.slot].node() : nullptr;
    case Op::select: {
      if (code.optional) return nullptr;
      const yaml::Node* target = peek(code.args[0]);
      return target == nullptr ? nullptr : target->find(code.text);
    }
    default:
      return nullptr;
  }
}

/// A part of a constant must be copied out of the program; anything else is taken as it is.
Value Evaluator::taken(const Code& from, Value part) {
  return from.op == Op::constant && part.is_node() ? Value(arena_.clone(part.node()))
                                                   : std::move(part);
}

bool Evaluator::missing_key(const Code& code, const std::string& key) {
  fail(code, "no such key " + key, EvalError::Kind::no_such_key);
  const Code* at = &code;
  while (at->op == Op::select || at->op == Op::index) at = &at->args[0];
  if (at->op == Op::variable) error_.path = written(code);
  return false;
}

/// What stands under a field or index: nothing when it is absent.
bool Evaluator::lookup(const Code& code, const Value& target, const Value& key,
                       std::optional<Value>& found) {
  if (const auto list = ListView::of(target); list && code.op == Op::index) {
    std::int64_t position = 0;
    if (!as_position(key, position)) {
      return fail(code, "the index of a list must be int, not " + type_name_of(key));
    }
    if (position < 0 || static_cast<std::uint64_t>(position) >= list->size()) {
      return fail(code,
                  "index " + std::to_string(position) + " is out of range, the list has " +
                      std::to_string(list->size()) + (list->size() == 1 ? " item" : " items"),
                  EvalError::Kind::out_of_range);
    }
    found = (*list)[static_cast<std::size_t>(position)];
    note(*found);
    return true;
  }
  const auto map = MapView::of(target);
  if (!map) {
    return fail(code, code.op == Op::index ? "cannot index " + type_name_of(target)
                                           : "cannot select field `" + std::string(code.text) +
                                                 "` of " + type_name_of(target));
  }
  if (!key.is_node()) return fail(code, "no such key of type " + type_name_of(key));
  if (!charge(code, map->find_cost(key.node()))) return false;
  found = map->find(key.node());
  if (found) note(*found);
  return true;
}

/// `a.b` and `a[b]`, of a value or of what an optional holds.
bool Evaluator::access(const Code& code, const Value& target, const Value& key, Value& out) {
  const OptionalValue* holder = as_optional(target);
  const bool optional = code.optional || holder != nullptr;
  if (holder != nullptr && !holder->present) {
    out = empty_optional();
    return true;
  }
  const Value& inner = holder == nullptr ? target : holder->value;
  if (code.optional && code.op == Op::select && inner.is_node() && inner.node().is_scalar()) {
    out = empty_optional();  // as published: a scalar has no such field, which is no error here
    return true;
  }
  std::optional<Value> found;
  if (!lookup(code, inner, key, found)) {
    if (!optional || error_.kind != EvalError::Kind::out_of_range) return false;
    found.reset();
  }
  if (!optional && !found) return missing_key(code, describe_key(key.node()));
  if (found) found = taken(code.args[0], std::move(*found));
  if (!optional) {
    out = std::move(*found);
  } else {
    out = found ? optional_of(std::move(*found)) : empty_optional();
  }
  return true;
}

bool Evaluator::select(const Code& code, Value& out) {
  if (const yaml::Node* found = peek(code)) {
    out = *found;
    note(out);
    return true;
  }
  Value target;
  if (!run(code.args[0], target)) return false;
  return access(code, target, yaml::Node::view(code.text), out);
}

bool Evaluator::index(const Code& code, Value& out) {
  Value target;
  Value key;
  return run(code.args[0], target) && run(code.args[1], key) && access(code, target, key, out);
}

bool Evaluator::has(const Code& code, Value& out) {
  if (const yaml::Node* node = peek(code.args[0]); node != nullptr && node->is_map()) {
    const yaml::Node* found = node->find(code.text);
    if (found != nullptr) note(*found);
    out = yaml::Node::boolean(found != nullptr);
    return true;
  }
  Value target;
  if (!run(code.args[0], target)) return false;
  const OptionalValue* holder = as_optional(target);
  if (holder != nullptr && !holder->present) {
    out = yaml::Node::boolean(false);
    return true;
  }
  std::optional<Value> found;
  if (!lookup(code, holder == nullptr ? target : holder->value, yaml::Node::view(code.text),
              found)) {
    return false;
  }
  out = yaml::Node::boolean(found.has_value());
  return true;
}

/// `a.or(b)`, `a.orValue(b)`.
bool Evaluator::alternative(const Code& code, Value& out) {
  Value target;
  if (!run(code.args[0], target)) return false;
  const OptionalValue* optional = as_optional(target);
  if (optional == nullptr) {
    return fail(code, "`" + name_of(code) + "` wants an optional, not " + type_name_of(target));
  }
  if (optional->present) {
    out = code.op == Op::or_value ? optional->value : target;
    return true;
  }
  if (!run(code.args[1], out)) return false;
  if (code.op == Op::or_else && as_optional(out) == nullptr) {
    return fail(code, "`or` wants an optional, not " + type_name_of(out));
  }
  return true;
}

/// Replaces the optional of a `?entry` by what it holds; `absent` when that is nothing.
bool Evaluator::unwrap(const Code& code, Value& value, bool& absent) {
  const OptionalValue* optional = as_optional(value);
  if (optional == nullptr) {
    return fail(code, "what follows `?` must be optional, not " + type_name_of(value));
  }
  absent = !optional->present;
  Value content = optional->value;
  value = std::move(content);
  return true;
}

bool Evaluator::list(const Code& code, Value& out) {
  std::vector<Value> items;
  items.reserve(code.args.size());
  for (std::size_t i = 0; i < code.args.size(); ++i) {
    Value item;
    if (!run(code.args[i], item)) return false;
    bool absent = false;
    if (code.args[i].optional_entry && !unwrap(code.args[i], item, absent)) {
      return false;
    }
    if (!absent) items.push_back(std::move(item));
  }
  out = make_list(std::move(items), arena_);
  return true;
}

bool Evaluator::map(const Code& code, Value& out) {
  std::vector<MapEntry> entries;
  entries.reserve(code.args.size() / 2);
  for (std::size_t i = 0; i + 1 < code.args.size(); i += 2) {
    Value key;
    Value value;
    if (!run(code.args[i], key) || !run(code.args[i + 1], value)) return false;
    if (!key.is_node() ||
        !(key.node().is_string() || key.node().is_integer() || key.node().is_boolean())) {
      return fail(code.args[i],
                  "a key of a map must be string, int or bool, not " + type_name_of(key));
    }
    if (!charge(code, entries.size() / 8)) return false;
    for (const MapEntry& entry : entries) {
      if (yaml::equal(entry.key, key.node())) {
        return fail(code.args[i], "repeated key " + describe_key(key.node()));
      }
    }
    bool absent = false;
    if (code.args[i].optional_entry && !unwrap(code.args[i + 1], value, absent)) {
      return false;
    }
    if (!absent) entries.push_back({key.node(), std::move(value)});
  }
  out = make_map(std::move(entries), arena_);
  return true;
}

}  // namespace gpuctl::cel
