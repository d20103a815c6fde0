#include "cel/evaluator.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "cel/collections.hpp"
#include "cel/definitions.hpp"
#include "cel/opaque.hpp"
#include "cel/pattern.hpp"

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
  error_.inside = nullptr;
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

bool Evaluator::variable(const Code& code, Value& out) {
  if (code.slot >= variables_.size()) {
    return fail(code, "no value for `" + written(code) + "`");
  }
  const Value& value = variables_[code.slot];
  const Deferred* deferred = as_deferred(value);
  if (deferred == nullptr) {
    out = value;
    note(out);
    return true;
  }
  // A stored program is run again, with its text, when somebody wants to know what went wrong.
  const bool explain = code.expr != nullptr;
  const Outcome& outcome = deferred->evaluate(variables_, arena_, reads_, explain);
  if (!outcome.ok()) {
    error_ = *outcome.error;
    return false;
  }
  out = outcome.value;
  return true;
}

namespace {
/// What cel.bind could not compute: an error for whoever reads it.
struct Broken final : Opaque {
  explicit Broken(EvalError fault) : error(std::move(fault)) {}
  std::string type_name() const override { return "error"; }
  bool equals(const Opaque&) const override { return false; }
  const EvalError error;
};
}  // namespace

bool Evaluator::is_broken(const Value& value) {
  const auto* broken = dynamic_cast<const Broken*>(value.opaque());
  if (broken == nullptr) return false;
  error_ = broken->error;
  return true;
}

/// `cel.bind(name, value, body)`: a value that fails matters only when the body reads it.
bool Evaluator::bind(const Code& code, Value& out) {
  Value value;
  if (!run(code.args[0], value)) {
    if (error_.kind == EvalError::Kind::budget) return false;
    value = Value(std::make_shared<const Broken>(std::move(error_)));
  }
  locals_[code.slot] = std::move(value);
  return run(code.args[1], out);
}

bool Evaluator::charge_result(const Value& result) {
  return charge_size(result, steps_left_) || charge(program_.code(), steps_left_ + 1);
}

bool Evaluator::run(const Code& code, Value& out) {
  if (steps_left_ == 0) return charge(code, 1);
  --steps_left_;
  switch (code.op) {
    case Op::constant:
      return constant(code, out);
    case Op::variable:
      return variable(code, out);
    case Op::local:
      out = locals_[code.slot];
      note(out);
      return out.is_node() || !is_broken(out);
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
    case Op::bind:
      return bind(code, out);
    case Op::or_else:
    case Op::or_value:
      return alternative(code, out);
    case Op::fault:
      return fail(code, std::string(code.text));
  }
  return fail(code, "unknown operation");
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
    if (code.args[i].widen && values[i].is_node() && values[i].node().is_integer()) {
      const yaml::Node& node = values[i].node();
      values[i] = yaml::Node::real(node.as_real(), node.origin());
    }
  }
  for (const Function* candidate : code.candidates) {
    bool fitting = true;
    for (std::size_t i = 0; fitting && i < values.size(); ++i) {
      const Type& type = candidate->params[std::min(i, candidate->params.size() - 1)];
      if (code.args[i].inspect && values[i].is_node() && !type.is_dyn() &&
          !charge(code, values[i].node().is_string() ? 0 : values[i].node().size())) {
        return false;
      }
      const bool collection = type.kind() == TypeKind::list || type.kind() == TypeKind::map;
      fitting = (values[i].is_node() || candidate->views || !collection) &&
                fits(type, values[i], code.args[i].inspect);
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
  if (!charge(code, match_cost(code.pattern->regex(), text.size()))) return false;
  out = yaml::Node::boolean(
      re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), code.pattern->regex()));
  return true;
}

}  // namespace gpuctl::cel
