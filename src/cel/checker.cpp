#include "cel/checker.hpp"

#include <algorithm>

namespace gpuctl::cel {

bool comparable(const Type& a, const Type& b) {
  const auto open = [](const Type& type) { return type.is_dyn() || type.kind() == TypeKind::null; };
  if (open(a) || open(b)) return true;
  const auto number = [](const Type& type) {
    return type.kind() == TypeKind::integer || type.kind() == TypeKind::real;
  };
  if (number(a) && number(b)) return true;
  const auto is_map = [](const Type& type) {
    return type.kind() == TypeKind::map || type.kind() == TypeKind::object;
  };
  if (is_map(a) && is_map(b)) {
    if (!comparable(a.key(), b.key())) return false;
    return a.kind() != TypeKind::map || b.kind() != TypeKind::map ||
           comparable(a.element(), b.element());
  }
  if (a.kind() != b.kind()) return false;
  if (a.kind() == TypeKind::opaque) return a.name() == b.name();
  if (a.kind() == TypeKind::list || a.kind() == TypeKind::optional) {
    return comparable(a.element(), b.element());
  }
  return true;
}

std::uint64_t cost_of(const yaml::Node& node) {
  std::uint64_t cost = 1;
  if (node.is_string()) return cost + node.size() / 8;
  for (const yaml::Node& item : node.items()) cost += cost_of(item);
  for (const yaml::Entry& entry : node.entries()) cost += cost_of(entry.key) + cost_of(entry.value);
  return cost;
}

Checker::Checker(const Environment& environment, Program& program, std::vector<Problem>& problems,
                 bool lenient)
    : environment_(environment),
      table_(environment.functions->table()),
      program_(program),
      problems_(problems),
      lenient_(lenient),
      variables_(environment.variables.all()),
      used_(variables_.size(), false) {
  dotted_ = std::any_of(variables_.begin(), variables_.end(), [](const Variable* variable) {
    return variable->name.find('.') != std::string::npos;
  });
}

std::vector<std::string> Checker::reads() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (used_[i]) names.push_back(variables_[i]->name);
  }
  return names;
}

Draft Checker::make(Op op, const Expr& expr) const {
  Draft code;
  code.op = op;
  code.begin = expr.begin;
  code.end = expr.end;
  code.expr = &expr;
  code.optional_entry = expr.optional_entry;
  program_.builds |= op == Op::list || op == Op::map || op == Op::macro || op == Op::call;
  return code;
}

Checked Checker::constant(const Expr& expr, Value value, Type type) {
  Draft code = make(Op::constant, expr);
  if (value.is_node()) code.cost = cost_of(value.node());
  code.constant = std::move(value);
  return {std::move(code), std::move(type)};
}

void Checker::object_to(std::uint32_t begin, std::uint32_t end, std::string message,
                        std::string help) {
  if (lenient_) return;
  problems_.push_back({begin, end, std::move(message), std::move(help), false});
}

Checked Checker::fault(const Expr& at, std::uint32_t begin, std::uint32_t end, std::string message,
                       std::string help) {
  Draft code = make(Op::fault, at);
  program_.texts.push_back(std::make_unique<const std::string>(message));
  code.text = *program_.texts.back();
  object_to(begin, end, std::move(message), std::move(help));
  return {std::move(code), Type::dyn()};
}

Checked Checker::fault(const Expr& at, std::string message, std::string help) {
  return fault(at, at.begin, at.end, std::move(message), std::move(help));
}

Checked Checker::check(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::null:
      return constant(expr, yaml::Node::null(), Type::simple(TypeKind::null));
    case ExprKind::boolean:
      return constant(expr, yaml::Node::boolean(expr.boolean), Type::simple(TypeKind::boolean));
    case ExprKind::integer:
      return constant(expr, yaml::Node::integer(expr.integer), Type::simple(TypeKind::integer));
    case ExprKind::real:
      return constant(expr, yaml::Node::real(expr.real), Type::simple(TypeKind::real));
    case ExprKind::string:
      return constant(expr, yaml::Node::view(expr.text), Type::simple(TypeKind::string));
    case ExprKind::identifier:
      return identifier(expr);
    case ExprKind::select:
      return select(expr);
    case ExprKind::has:
      return field(expr, check(*expr.children[0]), true);
    case ExprKind::index:
      return index(expr);
    case ExprKind::call:
      return call(expr);
    case ExprKind::method:
      return method(expr);
    case ExprKind::unary:
      return unary(expr);
    case ExprKind::binary:
      return binary(expr);
    case ExprKind::logic:
      return logic(expr);
    case ExprKind::conditional:
      return conditional(expr);
    case ExprKind::list:
      return list(expr);
    case ExprKind::map:
      return map(expr);
    case ExprKind::macro:
      return macro(expr);
    case ExprKind::bind:
      return bind(expr);
  }
  return fault(expr, "unknown kind of expression");
}

Checked Checker::conditional(const Expr& expr) {
  Checked condition = check(*expr.children[0]);
  Checked yes = check(*expr.children[1]);
  Checked no = check(*expr.children[2]);
  if (!Type::simple(TypeKind::boolean).accepts(condition.type)) {
    object_to(expr.children[0]->begin, expr.children[0]->end,
              "the condition of `? :` must be bool, not " + condition.type.text());
  }
  Type type = join(yes.type, no.type);
  const auto free = [](const Type& a) { return a.is_dyn() || a.kind() == TypeKind::null; };
  if (type.is_dyn() && !free(yes.type) && !free(no.type)) {
    object_to(
        expr.children[1]->begin, expr.children[2]->end,
        "the branches of `? :` have different types, " + yes.type.text() + " and " + no.type.text(),
        "make them one type, or wrap one in `dyn(...)` when both are meant");
  }
  Draft code = make(Op::conditional, expr);
  code.args.push_back(std::move(condition.code));
  code.args.push_back(std::move(yes.code));
  code.args.push_back(std::move(no.code));
  return {std::move(code), std::move(type)};
}

void Checker::fold_literal(Draft& code) {
  const bool constant = std::all_of(code.args.begin(), code.args.end(), [](const Draft& arg) {
    return arg.op == Op::constant && arg.constant.is_node() && !arg.optional_entry;
  });
  if (!constant) return;
  yaml::Node folded;
  if (code.op == Op::list) {
    std::vector<yaml::Node> items;
    for (const Draft& arg : code.args) items.push_back(arg.constant.node());
    folded = program_.constants.list(items);
  } else {
    std::vector<yaml::Entry> entries;
    for (std::size_t i = 0; i + 1 < code.args.size(); i += 2) {
      const yaml::Node& key = code.args[i].constant.node();
      const bool allowed = key.is_string() || key.is_integer() || key.is_boolean();
      const bool repeated =
          std::any_of(entries.begin(), entries.end(),
                      [&](const yaml::Entry& other) { return yaml::equal(other.key, key); });
      if (!allowed || repeated) return;  // fails when it runs, as the language wants it
      entries.push_back({key, code.args[i + 1].constant.node()});
    }
    folded = program_.constants.map(entries);
  }
  code.op = Op::constant;
  code.constant = folded;
  code.cost = cost_of(folded);
  code.args.clear();
}

Type Checker::entry_type(const Expr& entry, const Type& type) {
  if (type.is_dyn()) return type;
  if (type.kind() != TypeKind::optional) {
    object_to(entry.begin, entry.end, "what follows `?` must be optional, not " + type.text());
  }
  return type.element();
}

Checked Checker::list(const Expr& expr) {
  Draft code = make(Op::list, expr);
  Type element = Type::free();
  for (std::size_t i = 0; i < expr.children.size(); ++i) {
    const Expr& child = *expr.children[i];
    Checked item = check(child);
    if (child.optional_entry) item.type = entry_type(child, item.type);
    element = i == 0 ? item.type : join(element, item.type);
    code.args.push_back(std::move(item.code));
  }
  fold_literal(code);
  return {std::move(code), Type::list(std::move(element))};
}

Checked Checker::map(const Expr& expr) {
  Draft code = make(Op::map, expr);
  Type key_type = Type::free();
  Type element = Type::free();
  for (std::size_t i = 0; i + 1 < expr.children.size(); i += 2) {
    const Expr& key_expr = *expr.children[i];
    Checked key = check(key_expr);
    Checked value = check(*expr.children[i + 1]);
    if (key_expr.optional_entry) {
      value.type = entry_type(*expr.children[i + 1], value.type);
    }
    switch (key.type.kind()) {
      case TypeKind::dyn:
      case TypeKind::boolean:
      case TypeKind::integer:
      case TypeKind::string:
        break;
      default:
        object_to(key_expr.begin, key_expr.end,
                  "a key of a map must be string, int or bool, not " + key.type.text());
    }
    key_type = i == 0 ? key.type : join(key_type, key.type);
    element = i == 0 ? value.type : join(element, value.type);
    code.args.push_back(std::move(key.code));
    code.args.push_back(std::move(value.code));
  }
  fold_literal(code);
  return {std::move(code), Type::map(std::move(key_type), std::move(element))};
}

}  // namespace gpuctl::cel
