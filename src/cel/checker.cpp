#include "cel/checker.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

Type join(const Type& a, const Type& b) {
  if (a.is_dyn() || b.is_dyn()) return Type::dyn();
  const bool a_map = a.kind() == TypeKind::map || a.kind() == TypeKind::object;
  const bool b_map = b.kind() == TypeKind::map || b.kind() == TypeKind::object;
  if (a_map && b_map) {
    if (a.kind() == TypeKind::object && a.object() == b.object()) return a;
    const auto element = [](const Type& type) {
      return type.kind() == TypeKind::map ? type.element() : Type::dyn();
    };
    return Type::map(join(a.key(), b.key()), join(element(a), element(b)));
  }
  if (a.kind() != b.kind()) return Type::dyn();
  switch (a.kind()) {
    case TypeKind::list:
      return Type::list(join(a.element(), b.element()));
    case TypeKind::optional:
      return Type::optional(join(a.element(), b.element()));
    case TypeKind::opaque:
      return a.name() == b.name() ? a : Type::dyn();
    default:
      return a;
  }
}

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

bool has_dyn(const Type& type) {
  switch (type.kind()) {
    case TypeKind::dyn:
      return true;
    case TypeKind::list:
    case TypeKind::optional:
      return has_dyn(type.element());
    case TypeKind::map:
      return has_dyn(type.key()) || has_dyn(type.element());
    default:
      return false;
  }
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
      used_(environment.variables.size(), false) {
  for (const Variable& variable : environment.variables) {
    dotted_ = dotted_ || variable.name.find('.') != std::string::npos;
  }
}

Code Checker::make(Op op, const Expr& expr) const {
  Code code;
  code.op = op;
  code.begin = expr.begin;
  code.end = expr.end;
  code.expr = &expr;
  return code;
}

Checked Checker::constant(const Expr& expr, Value value, Type type) {
  Code code = make(Op::constant, expr);
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
  Code code = make(Op::fault, at);
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
  }
  return fault(expr, "unknown kind of expression");
}

std::optional<Checked> Checker::variable(const Expr& expr, std::string_view name) {
  for (std::size_t i = 0; i < environment_.variables.size(); ++i) {
    if (environment_.variables[i].name != name) continue;
    Code code = make(Op::variable, expr);
    code.slot = static_cast<std::uint32_t>(i);
    used_[i] = true;
    return Checked{std::move(code), environment_.variables[i].type};
  }
  return std::nullopt;
}

bool Checker::is_variable(std::string_view name) const {
  return std::any_of(locals_.begin(), locals_.end(),
                     [&](const Local& local) { return local.name == name; }) ||
         std::any_of(environment_.variables.begin(), environment_.variables.end(),
                     [&](const Variable& variable) {
                       return variable.name == name ||
                              (variable.name.size() > name.size() &&
                               variable.name[name.size()] == '.' &&
                               std::string_view(variable.name).substr(0, name.size()) == name);
                     });
}

std::string Checker::nearest_name(std::string_view name) const {
  std::vector<std::string> names;
  for (const Local& local : locals_) names.emplace_back(local.name);
  for (const Variable& known : environment_.variables) names.push_back(known.name);
  const std::vector<std::string> near = base::nearest(name, names);
  return near.empty() ? std::string() : "did you mean `" + near.front() + "`?";
}

Checked Checker::identifier(const Expr& expr) {
  if (!expr.absolute) {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->name != expr.text) continue;
      Code code = make(Op::local, expr);
      code.slot = local->slot;
      return {std::move(code), local->type};
    }
  }
  if (auto found = variable(expr, expr.text)) return std::move(*found);
  if (is_type_name(expr.text)) {
    return constant(expr, Value(std::make_shared<const TypeValue>(expr.text)),
                    Type::simple(TypeKind::type));
  }
  return fault(expr, "undeclared name `" + expr.text + "`", nearest_name(expr.text));
}

std::optional<std::string> Checker::chain(const Expr& expr) const {
  if (expr.kind == ExprKind::identifier) {
    const bool local =
        !expr.absolute && std::any_of(locals_.begin(), locals_.end(), [&](const Local& candidate) {
          return candidate.name == expr.text;
        });
    return local ? std::nullopt : std::optional(expr.text);
  }
  if (expr.kind != ExprKind::select) return std::nullopt;
  auto head = chain(*expr.children[0]);
  if (head) *head += "." + expr.text;
  return head;
}

Checked Checker::select(const Expr& expr) {
  if (dotted_) {
    if (const auto name = chain(expr)) {
      if (auto found = variable(expr, *name)) return std::move(*found);
    }
  }
  return field(expr, check(*expr.children[0]), false);
}

Checked Checker::field(const Expr& expr, Checked target, bool has) {
  Code code = make(has ? Op::has : Op::select, expr);
  code.text = expr.text;
  Type type;
  switch (target.type.kind()) {
    case TypeKind::dyn:
      break;
    case TypeKind::object: {
      const ObjectType& object = *target.type.object();
      if (const Field* found = object.find(expr.text)) {
        type = found->type;
      } else if (!object.open) {
        std::vector<std::string> names;
        for (const Field& candidate : object.fields) names.push_back(candidate.name);
        const auto near = base::nearest(expr.text, names);
        object_to(expr.text_begin, expr.text_end,
                  "`" + print(*expr.children[0]) + "` has no field `" + expr.text + "`",
                  near.empty() ? std::string() : "did you mean `" + near.front() + "`?");
      }
      break;
    }
    case TypeKind::map:
      if (!target.type.key().accepts(Type::simple(TypeKind::string))) {
        object_to(expr.text_begin, expr.text_end,
                  "the keys of " + target.type.text() + " are no strings",
                  "write an index: `map[key]`");
      }
      type = target.type.element();
      break;
    default:
      object_to(expr.text_begin, expr.text_end,
                "cannot select field `" + expr.text + "` of " + target.type.text());
  }
  code.args.push_back(std::move(target.code));
  code.args.back().transient = true;  // what is selected from a constant is copied
  return {std::move(code), has ? Type::simple(TypeKind::boolean) : std::move(type)};
}

Checked Checker::index(const Expr& expr) {
  Checked target = check(*expr.children[0]);
  Checked key = check(*expr.children[1]);
  const Expr& at = *expr.children[1];
  Type type;
  switch (target.type.kind()) {
    case TypeKind::dyn:
      break;
    case TypeKind::list:
      if (!Type::simple(TypeKind::integer).accepts(key.type)) {
        object_to(at.begin, at.end, "the index of a list must be int, not " + key.type.text());
      }
      type = target.type.element();
      break;
    case TypeKind::map:
    case TypeKind::object:
      if (!comparable(target.type.key(), key.type) || key.type.kind() == TypeKind::null) {
        object_to(at.begin, at.end,
                  "the keys of " + target.type.text() + " are " + target.type.key().text() +
                      ", not " + key.type.text());
      }
      type = target.type.element();
      if (target.type.kind() == TypeKind::object && at.kind == ExprKind::string) {
        const ObjectType& object = *target.type.object();
        if (const Field* found = object.find(at.text)) {
          type = found->type;
        } else if (!object.open) {
          std::vector<std::string> names;
          for (const Field& candidate : object.fields) names.push_back(candidate.name);
          const auto near = base::nearest(at.text, names);
          object_to(at.begin, at.end,
                    "`" + print(*expr.children[0]) + "` has no field `" + at.text + "`",
                    near.empty() ? std::string() : "did you mean `" + near.front() + "`?");
        }
      }
      break;
    default:
      object_to(expr.begin, expr.end, "cannot index " + target.type.text());
  }
  Code code = make(Op::index, expr);
  target.code.transient = true;  // what is selected from a constant is copied
  key.code.transient = true;
  code.args.push_back(std::move(target.code));
  code.args.push_back(std::move(key.code));
  return {std::move(code), std::move(type)};
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
  Code code = make(Op::conditional, expr);
  code.args.push_back(std::move(condition.code));
  code.args.push_back(std::move(yes.code));
  code.args.push_back(std::move(no.code));
  return {std::move(code), std::move(type)};
}

void Checker::fold_literal(Code& code) {
  const bool constant = std::all_of(code.args.begin(), code.args.end(), [](const Code& arg) {
    return arg.op == Op::constant && arg.constant.is_node();
  });
  if (!constant) return;
  yaml::Node folded;
  if (code.op == Op::list) {
    std::vector<yaml::Node> items;
    for (const Code& arg : code.args) items.push_back(arg.constant.node());
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

Checked Checker::list(const Expr& expr) {
  Code code = make(Op::list, expr);
  Type element;
  for (std::size_t i = 0; i < expr.children.size(); ++i) {
    Checked item = check(*expr.children[i]);
    element = i == 0 ? item.type : join(element, item.type);
    code.args.push_back(std::move(item.code));
  }
  fold_literal(code);
  return {std::move(code), Type::list(std::move(element))};
}

Checked Checker::map(const Expr& expr) {
  Code code = make(Op::map, expr);
  Type key_type;
  Type element;
  for (std::size_t i = 0; i + 1 < expr.children.size(); i += 2) {
    Checked key = check(*expr.children[i]);
    Checked value = check(*expr.children[i + 1]);
    switch (key.type.kind()) {
      case TypeKind::dyn:
      case TypeKind::boolean:
      case TypeKind::integer:
      case TypeKind::string:
        break;
      default:
        object_to(expr.children[i]->begin, expr.children[i]->end,
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
