// Static types of macros.
#include <algorithm>

#include "cel/checker.hpp"

namespace gpuctl::cel {

void Checker::declare(const Name& name, Type type) {
  locals_.push_back({name.text, std::move(type), static_cast<std::uint32_t>(locals_.size())});
  local_count_ = std::max(local_count_, static_cast<std::uint32_t>(locals_.size()));
}

Checked Checker::macro(const Expr& expr) {
  Checked range = check(*expr.children[0]);
  const Macro kind = find_macro(expr.text, expr.variables.size() + expr.children.size() - 1)->macro;
  if (kind == Macro::opt_map || kind == Macro::opt_flat_map) {
    return optional_macro(expr, std::move(range));
  }
  const bool is_list = range.type.kind() == TypeKind::list;
  const bool is_map = range.type.kind() == TypeKind::map || range.type.kind() == TypeKind::object;
  if (!is_list && !(is_map && kind != Macro::sort_by) && !range.type.is_dyn()) {
    object_to(expr.children[0]->begin, expr.children[0]->end,
              "`" + expr.text + "` wants a list" + (kind == Macro::sort_by ? "" : " or a map") +
                  ", not " + range.type.text());
  }
  const Type key =
      is_list ? Type::simple(TypeKind::integer) : (is_map ? range.type.key() : Type::dyn());
  const Type element = range.type.element();
  Draft code = make(Op::macro, expr);
  code.macro = kind;
  code.variables = static_cast<std::uint8_t>(expr.variables.size());
  code.filtered = expr.children.size() == 3;
  code.slot = static_cast<std::uint32_t>(locals_.size());
  // The answer of a quantifier holds no part of what it looped over.
  range.code.transient =
      code.macro == Macro::all || code.macro == Macro::exists || code.macro == Macro::exists_one;
  code.args.push_back(std::move(range.code));

  const Type single = is_map ? key : element;
  declare(expr.variables[0], expr.variables.size() == 1 ? single : key);
  if (expr.variables.size() == 2) declare(expr.variables[1], element);
  const Type body = macro_parts(expr, code);
  locals_.resize(code.slot);
  Type type = macro_type(expr, kind, key, single, body);
  return {std::move(code), std::move(type)};
}

/// Checks what follows the range, into `code`. The type of the last part.
Type Checker::macro_parts(const Expr& expr, Draft& code) {
  Type body;
  for (std::size_t i = 1; i < expr.children.size(); ++i) {
    const Expr& written = *expr.children[i];
    Checked part = check(written);
    const bool last = i + 1 == expr.children.size();
    const bool test = !last || code.macro == Macro::all || code.macro == Macro::exists ||
                      code.macro == Macro::exists_one || code.macro == Macro::filter;
    if (test && !Type::simple(TypeKind::boolean).accepts(part.type)) {
      object_to(written.begin, written.end,
                "the test of `" + expr.text + "` must be bool, not " + part.type.text());
    }
    if (code.macro == Macro::sort_by && !ordered(part.type)) {
      object_to(written.begin, written.end, "`sortBy` cannot order " + part.type.text());
    }
    if (last) body = part.type;
    code.args.push_back(std::move(part.code));
  }
  return body;
}

/// What a macro gives: `single` is the type of its only variable, `body` that of its last part.
Type Checker::macro_type(const Expr& expr, Macro kind, const Type& key, const Type& single,
                         const Type& body) {
  switch (kind) {
    case Macro::map:
    case Macro::transform_list:
      return Type::list(body);
    case Macro::filter:
    case Macro::sort_by:
      return Type::list(single);
    case Macro::transform_map:
      return Type::map(key, body);
    case Macro::transform_map_entry:
      if (!Type::map(Type::dyn(), Type::dyn()).accepts(body)) {
        object_to(expr.children.back()->begin, expr.children.back()->end,
                  "`transformMapEntry` wants a map for each item, not " + body.text());
      }
      return Type::map(body.key(), body.element());
    default:
      return Type::simple(TypeKind::boolean);
  }
}

/// `optional.optMap(x, body)` and `optional.optFlatMap(x, body)`.
Checked Checker::optional_macro(const Expr& expr, Checked target) {
  const bool flat = expr.text == "optFlatMap";
  if (!target.type.is_dyn() && target.type.kind() != TypeKind::optional) {
    object_to(expr.children[0]->begin, expr.children[0]->end,
              "`" + expr.text + "` wants an optional, not " + target.type.text());
  }
  Draft code = make(Op::macro, expr);
  code.macro = flat ? Macro::opt_flat_map : Macro::opt_map;
  code.variables = 1;
  code.slot = static_cast<std::uint32_t>(locals_.size());
  declare(expr.variables[0], target.type.element());
  Checked body = check(*expr.children[1]);
  locals_.resize(code.slot);
  if (flat && !body.type.is_dyn() && body.type.kind() != TypeKind::optional) {
    object_to(expr.children[1]->begin, expr.children[1]->end,
              "the body of `optFlatMap` must be optional, not " + body.type.text(),
              "`optMap` takes any value");
  }
  code.args.push_back(std::move(target.code));
  code.args.push_back(std::move(body.code));
  return {std::move(code), flat ? Type::optional(body.type.element()) : Type::optional(body.type)};
}

Checked Checker::bind(const Expr& expr) {
  Checked value = check(*expr.children[0]);
  Draft code = make(Op::bind, expr);
  code.slot = static_cast<std::uint32_t>(locals_.size());
  declare(expr.variables[0], std::move(value.type));
  Checked body = check(*expr.children[1]);
  locals_.resize(code.slot);
  code.args.push_back(std::move(value.code));
  code.args.push_back(std::move(body.code));
  return {std::move(code), std::move(body.type)};
}

}  // namespace gpuctl::cel
