// Static types of operators.
#include <algorithm>

#include "cel/checker.hpp"

namespace gpuctl::cel {

namespace {

bool is(const Type& type, TypeKind kind) {
  return type.is_dyn() || type.kind() == kind;
}

bool is_duration(const Type& type) {
  return type.is_dyn() || (type.kind() == TypeKind::opaque && type.name() == "duration");
}

Op binary_op(std::string_view text) {
  if (text == "+") return Op::add;
  if (text == "-") return Op::subtract;
  if (text == "*") return Op::multiply;
  if (text == "/") return Op::divide;
  if (text == "%") return Op::modulo;
  if (text == "==") return Op::equal;
  if (text == "!=") return Op::not_equal;
  if (text == "<") return Op::less;
  if (text == "<=") return Op::less_equal;
  if (text == ">") return Op::greater;
  if (text == ">=") return Op::greater_equal;
  return Op::in;
}

/// The one type both operands have, where dyn has any.
const Type& known(const Type& left, const Type& right) {
  return left.is_dyn() ? right : left;
}

/// What would make `left + right` work; empty when nothing simple would.
std::string conversion_help(const Type& left, const Type& right) {
  const auto pair = [&](TypeKind a, TypeKind b) {
    return (left.kind() == a && right.kind() == b) || (left.kind() == b && right.kind() == a);
  };
  if (pair(TypeKind::string, TypeKind::integer) || pair(TypeKind::string, TypeKind::real) ||
      pair(TypeKind::string, TypeKind::boolean)) {
    return "convert with `string(...)`";
  }
  if (pair(TypeKind::integer, TypeKind::real)) return "convert with `double(...)` or `int(...)`";
  return {};
}

}  // namespace

bool ordered(const Type& type) {
  return type.is_dyn() || type.kind() == TypeKind::integer || type.kind() == TypeKind::real ||
         type.kind() == TypeKind::string || type.kind() == TypeKind::boolean || is_duration(type);
}

Checked Checker::unary(const Expr& expr) {
  Checked operand = check(*expr.children[0]);
  if (expr.text == "!") {
    if (!is(operand.type, TypeKind::boolean)) {
      object_to(expr.begin, expr.end, "operator `!` cannot take " + operand.type.text());
    }
    Draft code = make(Op::logical_not, expr);
    code.args.push_back(std::move(operand.code));
    return {std::move(code), Type::simple(TypeKind::boolean)};
  }
  if (!is(operand.type, TypeKind::integer) && !is(operand.type, TypeKind::real)) {
    object_to(expr.begin, expr.end, "operator `-` cannot take " + operand.type.text());
  }
  Draft code = make(Op::negate, expr);
  code.real = operand.type.kind() == TypeKind::real;
  code.args.push_back(std::move(operand.code));
  return {std::move(code), std::move(operand.type)};
}

Checked Checker::logic(const Expr& expr) {
  Draft code = make(expr.text == "||" ? Op::logical_or : Op::logical_and, expr);
  for (const ExprPtr& child : expr.children) {
    Checked operand = check(*child);
    if (!is(operand.type, TypeKind::boolean)) {
      object_to(child->begin, child->end,
                "operator `" + expr.text + "` wants bool, not " + operand.type.text());
    }
    code.args.push_back(std::move(operand.code));
  }
  return {std::move(code), Type::simple(TypeKind::boolean)};
}

Checked Checker::binary(const Expr& expr) {
  Checked left = check(*expr.children[0]);
  Checked right = check(*expr.children[1]);
  switch (binary_op(expr.text)) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::modulo:
      return arithmetic(expr, std::move(left), std::move(right));
    default:
      return relation(expr, std::move(left), std::move(right));
  }
}

Checked Checker::arithmetic(const Expr& expr, Checked left, Checked right) {
  const Op op = binary_op(expr.text);
  const auto both = [&](TypeKind kind) { return is(left.type, kind) && is(right.type, kind); };
  const bool sum = op == Op::add;
  const bool durations =
      (sum || op == Op::subtract) && is_duration(left.type) && is_duration(right.type);
  const bool allowed = both(TypeKind::integer) || (op != Op::modulo && both(TypeKind::real)) ||
                       (sum && (both(TypeKind::string) || both(TypeKind::list))) || durations;
  if (!allowed) {
    object_to(expr.begin, expr.end,
              "operator `" + expr.text + "` cannot take " + left.type.text() + " and " +
                  right.type.text(),
              conversion_help(left.type, right.type));
  }
  Type type = known(left.type, right.type);
  if (!allowed) type = Type::dyn();
  if (allowed && type.kind() == TypeKind::string) {
    return concat(expr, std::move(left), std::move(right));
  }
  if (type.kind() == TypeKind::list) type = join(left.type, right.type);
  if (type.is_dyn() && both(TypeKind::list) && !(left.type.is_dyn() && right.type.is_dyn())) {
    type = Type::list(Type::dyn());
  }
  Draft code = make(op, expr);
  code.real = type.kind() == TypeKind::real;
  code.args.push_back(std::move(left.code));
  code.args.push_back(std::move(right.code));
  return {std::move(code), std::move(type)};
}

Checked Checker::concat(const Expr& expr, Checked left, Checked right) {
  Draft code = make(Op::concat, expr);
  if (left.code.op == Op::concat) {
    code.args = std::move(left.code.args);
  } else {
    left.code.transient = true;
    code.args.push_back(std::move(left.code));
  }
  right.code.transient = true;
  code.args.push_back(std::move(right.code));
  return {std::move(code), Type::simple(TypeKind::string)};
}

Checked Checker::relation(const Expr& expr, Checked left, Checked right) {
  const Op op = binary_op(expr.text);
  bool allowed = true;
  std::string help;
  if (op == Op::equal || op == Op::not_equal) {
    allowed = comparable(left.type, right.type);
    help = conversion_help(left.type, right.type);
  } else if (op == Op::in) {
    switch (right.type.kind()) {
      case TypeKind::dyn:
        break;
      case TypeKind::list:
        allowed = comparable(left.type, right.type.element());
        break;
      case TypeKind::map:
      case TypeKind::object:
        allowed = comparable(left.type, right.type.key());
        break;
      default:
        allowed = false;
        if (right.type.kind() == TypeKind::string) help = "for text: `text.contains(part)`";
    }
  } else {
    allowed = ordered(left.type) && ordered(right.type) && comparable(left.type, right.type);
    help = conversion_help(left.type, right.type);
  }
  if (!allowed) {
    object_to(expr.begin, expr.end,
              "operator `" + expr.text + "` cannot take " + left.type.text() + " and " +
                  right.type.text(),
              std::move(help));
  }
  Draft code = make(op, expr);
  left.code.transient = true;
  right.code.transient = true;
  code.args.push_back(std::move(left.code));
  code.args.push_back(std::move(right.code));
  return {std::move(code), Type::simple(TypeKind::boolean)};
}

}  // namespace gpuctl::cel
