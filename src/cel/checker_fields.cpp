// Static types of names, fields and indexes.
#include <algorithm>

#include "base/text.hpp"
#include "cel/checker.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

namespace {

/// What `type` holds when it is an optional, otherwise `type` itself.
Type without_optional(const Type& type) {
  return type.kind() == TypeKind::optional ? type.element() : type;
}

/// The escaped name of the field `name`, a reserved word, when `holder` has it under that name
/// only, as types for the rules of CRDs do. Since 1.31 the API server finds it by the word itself,
/// too (k8s.io/apiserver, pkg/cel/types.go, recognizeKeywordAsFieldName).
std::optional<std::string> escaped_field(const Type& holder, const std::string& name) {
  if (holder.kind() != TypeKind::object || !is_reserved(name)) return std::nullopt;
  std::string escaped = "__" + name + "__";
  const bool only_escaped =
      holder.object()->find(name) == nullptr && holder.object()->find(escaped) != nullptr;
  return only_escaped ? std::optional(std::move(escaped)) : std::nullopt;
}

bool starts_absolute(const Expr& expr) {
  const Expr* at = &expr;
  while (at->kind == ExprKind::select) at = at->children[0].get();
  return at->absolute;
}

}  // namespace

std::vector<std::string> Checker::candidates(std::string_view name, bool absolute) const {
  std::vector<std::string> names;
  std::string_view container = absolute ? std::string_view() : environment_.container;
  while (!container.empty()) {
    names.push_back(std::string(container) + "." + std::string(name));
    const std::size_t dot = container.rfind('.');
    container = container.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  names.emplace_back(name);
  return names;
}

std::optional<Checked> Checker::variable(const Expr& expr, std::string_view name) {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i]->name != name) continue;
    Draft code = make(Op::variable, expr);
    code.slot = static_cast<std::uint32_t>(i);
    used_[i] = true;
    return Checked{std::move(code), variables_[i]->type.get()};
  }
  return std::nullopt;
}

std::optional<Checked> Checker::global(const Expr& expr, std::string_view name, bool absolute) {
  if (environment_.container.empty()) {
    if (auto found = variable(expr, name)) return found;
  } else {
    for (const std::string& candidate : candidates(name, absolute)) {
      if (auto found = variable(expr, candidate)) return found;
    }
  }
  if (!is_type_name(name) || is_variable(name.substr(0, name.find('.')))) return std::nullopt;
  return constant(expr, Value(std::make_shared<const TypeValue>(std::string(name))),
                  Type::simple(TypeKind::type));
}

bool Checker::is_variable(std::string_view name) const {
  return std::any_of(locals_.begin(), locals_.end(),
                     [&](const Local& local) { return local.name == name; }) ||
         std::any_of(variables_.begin(), variables_.end(), [&](const Variable* variable) {
           const std::string_view known = variable->name;
           return known.starts_with(name) &&
                  (known.size() == name.size() || known[name.size()] == '.');
         });
}

std::string Checker::nearest_name(std::string_view name) const {
  std::vector<std::string> names;
  for (const Local& local : locals_) names.emplace_back(local.name);
  for (const Variable* known : variables_) names.push_back(known->name);
  const std::vector<std::string> near = base::nearest(name, names);
  return near.empty() ? std::string() : "did you mean `" + near.front() + "`?";
}

Checked Checker::identifier(const Expr& expr) {
  if (!expr.absolute) {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->name != expr.text) continue;
      Draft code = make(Op::local, expr);
      code.slot = local->slot;
      return {std::move(code), local->type};
    }
  }
  if (auto found = global(expr, expr.text, expr.absolute)) return std::move(*found);
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
  if (expr.kind != ExprKind::select || expr.optional) return std::nullopt;
  auto head = chain(*expr.children[0]);
  if (head) *head += "." + expr.text;
  return head;
}

Checked Checker::select(const Expr& expr) {
  // A name with dots is one when a variable is called so, or a type (`net.IP`): these end in a
  // capital.
  const bool may_be_type = !expr.text.empty() && expr.text[0] >= 'A' && expr.text[0] <= 'Z';
  if (dotted_ || may_be_type) {
    if (const auto name = chain(expr)) {
      if (auto found = global(expr, *name, starts_absolute(expr))) return std::move(*found);
    }
  }
  return field(expr, check(*expr.children[0]), false);
}

Type Checker::member_type(const ObjectType& object, const Expr& holder, std::string_view name,
                          std::uint32_t begin, std::uint32_t end) {
  if (const Field* found = object.find(name)) return found->type;
  if (!object.open) {
    std::vector<std::string> names;
    for (const Field& candidate : object.fields) names.push_back(candidate.name);
    const auto near = base::nearest(name, names);
    object_to(begin, end, "`" + print(holder) + "` has no field `" + std::string(name) + "`",
              near.empty() ? std::string() : "did you mean `" + near.front() + "`?");
  }
  return Type::dyn();
}

Type Checker::field_type(const Expr& expr, const Type& holder, std::string_view name) {
  switch (holder.kind()) {
    case TypeKind::dyn:
      return Type::dyn();
    case TypeKind::object:
      return member_type(*holder.object(), *expr.children[0], name, expr.text_begin, expr.text_end);
    case TypeKind::map:
      if (!holder.key().accepts(Type::simple(TypeKind::string))) {
        object_to(expr.text_begin, expr.text_end,
                  "the keys of " + holder.text() + " are no strings", "write an index: `map[key]`");
      }
      return holder.element();
    default:
      object_to(expr.text_begin, expr.text_end,
                "cannot select field `" + expr.text + "` of " + holder.text());
      return Type::dyn();
  }
}

Checked Checker::field(const Expr& expr, Checked target, bool has) {
  Draft code = make(has ? Op::has : Op::select, expr);
  const Type holder = without_optional(target.type);
  code.text = expr.text;
  if (std::optional<std::string> escaped = escaped_field(holder, expr.text)) {
    program_.texts.push_back(std::make_unique<const std::string>(*std::move(escaped)));
    code.text = *program_.texts.back();
  }
  code.optional = expr.optional;
  Type type = field_type(expr, holder, code.text);
  // What is selected of an optional is one again.
  if (expr.optional || target.type.kind() == TypeKind::optional) type = Type::optional(type);
  code.args.push_back(std::move(target.code));
  code.args.back().transient = true;  // what is selected from a constant is copied
  return {std::move(code), has ? Type::simple(TypeKind::boolean) : std::move(type)};
}

Type Checker::index_type(const Expr& expr, const Type& holder, const Type& key) {
  const Expr& at = *expr.children[1];
  switch (holder.kind()) {
    case TypeKind::dyn:
      return Type::dyn();
    case TypeKind::list:
      if (!Type::simple(TypeKind::integer).accepts(key)) {
        object_to(at.begin, at.end, "the index of a list must be int, not " + key.text());
      }
      return holder.element();
    case TypeKind::map:
    case TypeKind::object:
      if (!comparable(holder.key(), key) || key.kind() == TypeKind::null) {
        object_to(
            at.begin, at.end,
            "the keys of " + holder.text() + " are " + holder.key().text() + ", not " + key.text());
      }
      if (holder.kind() == TypeKind::object && at.kind == ExprKind::string) {
        return member_type(*holder.object(), *expr.children[0], at.text, at.begin, at.end);
      }
      return holder.element();
    default:
      object_to(expr.begin, expr.end, "cannot index " + holder.text());
      return Type::dyn();
  }
}

Checked Checker::index(const Expr& expr) {
  Checked target = check(*expr.children[0]);
  Checked key = check(*expr.children[1]);
  Type type = index_type(expr, without_optional(target.type), key.type);
  if (expr.optional || target.type.kind() == TypeKind::optional) type = Type::optional(type);
  Draft code = make(Op::index, expr);
  code.optional = expr.optional;
  target.code.transient = true;  // what is selected from a constant is copied
  key.code.transient = true;
  code.args.push_back(std::move(target.code));
  code.args.push_back(std::move(key.code));
  return {std::move(code), std::move(type)};
}

}  // namespace gpuctl::cel
