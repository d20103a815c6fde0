#include "cel/evaluator.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cel/opaque.hpp"

namespace gpuctl::cel {

Evaluator::Evaluator(const Program& program, std::span<const Value> variables, yaml::Arena& arena,
                     std::vector<yaml::Origin>* reads)
    : program_(program),
      variables_(variables),
      arena_(arena),
      locals_(program.local_count),
      reads_(reads) {}

bool Evaluator::fail(const Code& code, std::string message, EvalError::Kind kind) {
  error_.kind = kind;
  error_.begin = code.begin;
  error_.end = code.end;
  error_.message = std::move(message);
  error_.path.clear();
  return false;
}

bool Evaluator::charge(const Code& code, std::uint64_t steps) {
  if (steps <= steps_left_) {
    steps_left_ -= steps;
    return true;
  }
  steps_left_ = 0;
  return fail(code, "the evaluation needs more than " + std::to_string(kMostSteps) + " steps",
              EvalError::Kind::budget);
}

bool Evaluator::run(const Code& code, Value& out) {
  if (steps_left_ == 0) return charge(code, 1);
  --steps_left_;
  switch (code.op) {
    case Op::constant:
      return constant(code, out);
    case Op::variable:
      if (code.slot >= variables_.size()) {
        return fail(code, "no value for `" + print(*code.expr) + "`");
      }
      out = variables_[code.slot];
      if (out.is_node()) note(out.node());
      return true;
    case Op::local:
      out = locals_[code.slot];
      if (out.is_node()) note(out.node());
      return true;
    case Op::select:
      return select(code, out);
    case Op::has:
      return has(code, out);
    case Op::index:
      return index(code, out);
    case Op::call:
      return call(code, out);
    case Op::matches:
      return matches(code, out);
    case Op::conditional:
      return conditional(code, out);
    case Op::logical_and:
      return logical(code, out, false);
    case Op::logical_or:
      return logical(code, out, true);
    case Op::logical_not:
    case Op::negate:
      return unary(code, out);
    case Op::concat:
      return concat(code, out);
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::modulo:
      return arithmetic(code, out);
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::in:
      return relation(code, out);
    case Op::list:
      return list(code, out);
    case Op::map:
      return map(code, out);
    case Op::macro:
      return macro(code, out);
    case Op::fault:
      return fail(code, std::string(code.text));
  }
  return fail(code, "unknown operation");
}

/// The node a chain of selections leads to, when it is all there; otherwise nullptr, and run()
/// finds out why.
const yaml::Node* Evaluator::peek(const Code& code) const {
  switch (code.op) {
    case Op::variable:
      if (code.slot >= variables_.size() || !variables_[code.slot].is_node()) return nullptr;
      return &variables_[code.slot].node();
    case Op::local:
      return locals_[code.slot].is_node() ? &locals_[code.slot].node() : nullptr;
    case Op::select: {
      const yaml::Node* target = peek(code.args[0]);
      return target == nullptr ? nullptr : target->find(code.text);
    }
    default:
      return nullptr;
  }
}

/// A part of a constant must be copied out of the program; anything else is taken as it is.
void Evaluator::take(const Code& from, const yaml::Node& part, Value& out) {
  out = from.op == Op::constant ? arena_.clone(part) : part;
}

bool Evaluator::constant(const Code& code, Value& out) {
  if (!code.constant.is_node()) {
    out = code.constant;
    return true;
  }
  const yaml::Node& node = code.constant.node();
  if (code.transient || (node.is_scalar() && !node.is_string())) {
    out = code.constant;
    return true;
  }
  if (!charge(code, code.cost)) return false;
  out = arena_.clone(node);
  return true;
}

bool Evaluator::missing_key(const Code& code, const std::string& key) {
  fail(code, "no such key " + key, EvalError::Kind::no_such_key);
  const Code* at = &code;
  while (at->op == Op::select || at->op == Op::index) at = &at->args[0];
  if (at->op == Op::variable) error_.path = print(*code.expr);
  return false;
}

bool Evaluator::select(const Code& code, Value& out) {
  if (const yaml::Node* found = peek(code)) {
    out = *found;
    note(*found);
    return true;
  }
  Value target;
  if (!run(code.args[0], target)) return false;
  if (!target.is_node() || !target.node().is_map()) {
    return fail(code,
                "cannot select field `" + std::string(code.text) + "` of " + type_name_of(target));
  }
  const yaml::Node* found = target.node().find(code.text);
  if (found == nullptr) return missing_key(code, "`" + std::string(code.text) + "`");
  note(*found);
  take(code.args[0], *found, out);
  return true;
}

bool Evaluator::has(const Code& code, Value& out) {
  const yaml::Node* node = peek(code.args[0]);
  Value target;
  if (node == nullptr) {
    if (!run(code.args[0], target)) return false;
    if (!target.is_node()) {
      return fail(
          code, "cannot select field `" + std::string(code.text) + "` of " + type_name_of(target));
    }
    node = &target.node();
  }
  if (!node->is_map()) {
    return fail(code,
                "cannot select field `" + std::string(code.text) + "` of " + type_name_of(*node));
  }
  const yaml::Node* found = node->find(code.text);
  if (found != nullptr) note(*found);
  out = yaml::Node::boolean(found != nullptr);
  return true;
}

namespace {

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

bool Evaluator::index(const Code& code, Value& out) {
  Value target;
  Value key;
  if (!run(code.args[0], target) || !run(code.args[1], key)) return false;
  const auto* values = dynamic_cast<const ValueList*>(target.opaque());
  if (values != nullptr || (target.is_node() && target.node().is_list())) {
    std::int64_t position = 0;
    if (!as_position(key, position)) {
      return fail(code, "the index of a list must be int, not " + type_name_of(key));
    }
    const std::size_t size = values != nullptr ? values->items.size() : target.node().size();
    if (position < 0 || static_cast<std::uint64_t>(position) >= size) {
      return fail(code, "index " + std::to_string(position) + " is out of range, the list has " +
                            std::to_string(size) + (size == 1 ? " item" : " items"));
    }
    const auto at = static_cast<std::size_t>(position);
    if (values != nullptr) {
      out = values->items[at];
    } else {
      note(target.node().items()[at]);
      take(code.args[0], target.node().items()[at], out);
    }
    return true;
  }
  if (!target.is_node() || !target.node().is_map()) {
    return fail(code, "cannot index " + type_name_of(target));
  }
  if (!key.is_node()) return fail(code, "no such key of type " + type_name_of(key));
  const yaml::Node* found = key.node().is_string() ? target.node().find(key.node().as_string())
                                                   : target.node().find(key.node());
  if (found == nullptr) return missing_key(code, describe_key(key.node()));
  note(*found);
  take(code.args[0], *found, out);
  return true;
}

bool Evaluator::conditional(const Code& code, Value& out) {
  Value condition;
  if (!run(code.args[0], condition)) return false;
  if (!condition.is_node() || !condition.node().is_boolean()) {
    return fail(code.args[0],
                "the condition of `? :` must be bool, not " + type_name_of(condition));
  }
  return run(code.args[condition.node().as_boolean() ? 1 : 2], out);
}

/// `&&` (absorbing = false) and `||` (absorbing = true): one operand of that value decides, even
/// when others fail.
bool Evaluator::logical(const Code& code, Value& out, bool absorbing) {
  EvalError first;
  bool failed = false;
  for (const Code& arg : code.args) {
    Value value;
    bool ok = run(arg, value);
    if (ok && (!value.is_node() || !value.node().is_boolean())) {
      ok = fail(arg, std::string("operator `") + (absorbing ? "||" : "&&") + "` wants bool, not " +
                         type_name_of(value));
    }
    if (ok && value.node().as_boolean() == absorbing) {
      out = yaml::Node::boolean(absorbing);
      return true;
    }
    if (ok) continue;
    if (error_.kind == EvalError::Kind::budget) return false;
    if (!failed) first = std::move(error_);
    failed = true;
  }
  if (failed) {
    error_ = std::move(first);
    return false;
  }
  out = yaml::Node::boolean(!absorbing);
  return true;
}

bool Evaluator::call(const Code& code, Value& out) {
  // Most calls have few arguments: no allocation for them.
  std::array<Value, 4> few;
  std::vector<Value> many;
  if (code.args.size() > few.size()) many.resize(code.args.size());
  const std::span<Value> values(many.empty() ? few.data() : many.data(), code.args.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!run(code.args[i], values[i])) return false;
    if (code.widen[i] && values[i].is_node() && values[i].node().is_integer()) {
      const yaml::Node& node = values[i].node();
      values[i] = yaml::Node::real(node.as_real(), node.origin());
    }
  }
  for (const Function* candidate : code.candidates) {
    bool fitting = true;
    for (std::size_t i = 0; fitting && i < values.size(); ++i) {
      const Type& type = candidate->params[std::min(i, candidate->params.size() - 1)];
      if (code.inspect[i] && values[i].is_node() && !type.is_dyn() &&
          !charge(code, values[i].node().is_string() ? 0 : values[i].node().size())) {
        return false;
      }
      fitting = fits(type, values[i], code.inspect[i]);
    }
    if (!fitting) continue;
    CallContext context{arena_, &steps_left_};
    Outcome outcome = candidate->call(values, context);
    if (outcome.ok()) {
      out = std::move(outcome.value);
      return true;
    }
    error_ = std::move(*outcome.error);
    error_.begin = code.begin;
    error_.end = code.end;
    return false;
  }
  std::string types;
  for (const Value& value : values) types += (types.empty() ? "" : ", ") + type_name_of(value);
  return fail(code, "`" + code.candidates.front()->name + "` cannot take (" + types + ")");
}

bool Evaluator::matches(const Code& code, Value& out) {
  Value subject;
  if (!run(code.args[0], subject)) return false;
  if (!subject.is_node() || !subject.node().is_string()) {
    return fail(code, "`matches` cannot take (" + type_name_of(subject) + ", string)");
  }
  const std::string_view text = subject.node().as_string();
  if (!charge(code, text.size() / 8)) return false;
  out = yaml::Node::boolean(
      re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *code.pattern));
  return true;
}

/// A list node, or an opaque list when an item is no node. Items that are omit() are left out.
bool Evaluator::make_list(std::vector<Value>& items, Value& out) {
  std::erase_if(items, [](const Value& item) { return item.is_omit(); });
  const bool nodes =
      std::all_of(items.begin(), items.end(), [](const Value& item) { return item.is_node(); });
  if (!nodes) {
    out = Value(std::make_shared<const ValueList>(std::move(items)));
    return true;
  }
  std::vector<yaml::Node> list;
  list.reserve(items.size());
  for (const Value& item : items) list.push_back(item.node());
  out = arena_.list(list);
  return true;
}

bool Evaluator::list(const Code& code, Value& out) {
  std::vector<Value> items(code.args.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!run(code.args[i], items[i])) return false;
  }
  return make_list(items, out);
}

bool Evaluator::map(const Code& code, Value& out) {
  std::vector<yaml::Entry> entries;
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
    for (const yaml::Entry& entry : entries) {
      if (yaml::equal(entry.key, key.node())) {
        return fail(code.args[i], "repeated key " + describe_key(key.node()));
      }
    }
    if (value.is_omit()) continue;
    if (!value.is_node()) {
      return fail(code.args[i + 1], "a map cannot hold a value of type " + type_name_of(value));
    }
    entries.push_back({key.node(), value.node()});
  }
  out = arena_.map(entries);
  return true;
}

}  // namespace gpuctl::cel
