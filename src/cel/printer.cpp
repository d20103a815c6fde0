// Canonical text and dump of syntax trees.
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "cel/ast.hpp"
#include "cel/macros.hpp"

namespace gpuctl::cel {

namespace {

// Binding strength of what an expression prints as; a child that binds weaker than its place
// needs parentheses.
enum Strength : int { kConditional, kOr, kAnd, kRelation, kSum, kProduct, kUnary, kMember };

int strength(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::conditional:
      return kConditional;
    case ExprKind::logic:
      return expr.text == "||" ? kOr : kAnd;
    case ExprKind::binary:
      if (expr.text == "+" || expr.text == "-") return kSum;
      if (expr.text == "*" || expr.text == "/" || expr.text == "%") return kProduct;
      return kRelation;
    case ExprKind::unary:
      return kUnary;
    default:
      return kMember;
  }
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    static constexpr std::string_view kPlain = "\a\b\f\n\r\t\v\\\"";
    static constexpr std::string_view kLetter = "abfnrtv\\\"";
    if (const std::size_t at = kPlain.find(c); at != std::string_view::npos) {
      out += {'\\', kLetter[at]};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      static constexpr std::string_view kHex = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

bool plain_name(std::string_view name) {
  if (name.empty() || name == "in" || name == "true" || name == "false" || name == "null") {
    return false;
  }
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (!letter(name.front())) return false;
  for (const char c : name) {
    if (!letter(c) && (c < '0' || c > '9')) return false;
  }
  return true;
}

class Printer {
 public:
  std::string text;

  void put(const Expr& expr, int least = kConditional) {
    const bool parentheses = strength(expr) < least;
    if (parentheses) text += "(";
    body(expr);
    if (parentheses) text += ")";
  }

 private:
  void sequence(const Expr& expr, std::size_t from) {
    for (std::size_t i = from; i < expr.children.size(); ++i) {
      if (i != from) text += ", ";
      if (expr.children[i]->optional_entry) text += "?";
      put(*expr.children[i]);
    }
  }

  void field(const Expr& expr) {
    put(*expr.children[0], kMember);
    text += expr.optional ? ".?" : ".";
    text += plain_name(expr.text) ? expr.text : "`" + expr.text + "`";
  }

  void body(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::null:
        text += "null";
        break;
      case ExprKind::boolean:
        text += expr.boolean ? "true" : "false";
        break;
      case ExprKind::integer:
        text += std::to_string(expr.integer);
        break;
      case ExprKind::real:
        text += base::format_real(expr.real);
        break;
      case ExprKind::string:
        text += quote(expr.text);
        break;
      case ExprKind::identifier:
        text += (expr.absolute ? "." : "") + expr.text;
        break;
      case ExprKind::select:
        field(expr);
        break;
      case ExprKind::has:
        text += "has(";
        field(expr);
        text += ")";
        break;
      case ExprKind::index:
        put(*expr.children[0], kMember);
        text += expr.optional ? "[?" : "[";
        put(*expr.children[1]);
        text += "]";
        break;
      case ExprKind::call:
        text += (expr.absolute ? "." : "") + expr.text + "(";
        sequence(expr, 0);
        text += ")";
        break;
      case ExprKind::method:
        put(*expr.children[0], kMember);
        text += "." + expr.text + "(";
        sequence(expr, 1);
        text += ")";
        break;
      case ExprKind::macro:
        put(*expr.children[0], kMember);
        text += "." + expr.text + "(";
        for (const Name& variable : expr.variables) text += variable.text + ", ";
        sequence(expr, 1);
        text += ")";
        break;
      case ExprKind::bind:
        text += "cel.bind(" + expr.variables[0].text + ", ";
        sequence(expr, 0);
        text += ")";
        break;
      case ExprKind::unary:
        unary(expr);
        break;
      case ExprKind::binary:
        put(*expr.children[0], strength(expr));
        text += " " + expr.text + " ";
        put(*expr.children[1], strength(expr) + 1);
        break;
      case ExprKind::logic:
        for (std::size_t i = 0; i < expr.children.size(); ++i) {
          if (i != 0) text += " " + expr.text + " ";
          put(*expr.children[i], strength(expr) + 1);
        }
        break;
      case ExprKind::conditional:
        put(*expr.children[0], kOr);
        text += " ? ";
        put(*expr.children[1], kOr);
        text += " : ";
        put(*expr.children[2]);
        break;
      case ExprKind::list:
        text += "[";
        sequence(expr, 0);
        text += "]";
        break;
      case ExprKind::map:
        text += "{";
        for (std::size_t i = 0; i + 1 < expr.children.size(); i += 2) {
          if (i != 0) text += ", ";
          if (expr.children[i]->optional_entry) text += "?";
          put(*expr.children[i]);
          text += ": ";
          put(*expr.children[i + 1]);
        }
        text += "}";
        break;
    }
  }

  // `-(5)` is a negation, `-5` is a literal, and `-5.abs()` calls on that literal.
  static bool starts_with_digit(const Expr& expr) {
    const Expr* at = &expr;
    while (at->kind == ExprKind::select || at->kind == ExprKind::index ||
           at->kind == ExprKind::method || at->kind == ExprKind::macro) {
      at = at->children[0].get();
    }
    return (at->kind == ExprKind::integer && at->integer >= 0) ||
           (at->kind == ExprKind::real && !std::signbit(at->real));
  }

  void unary(const Expr& expr) {
    text += expr.text;
    const Expr& operand = *expr.children[0];
    const bool ambiguous = expr.text == "-" && starts_with_digit(operand);
    if (ambiguous) text += "(";
    put(operand, ambiguous ? kConditional : kUnary);
    if (ambiguous) text += ")";
  }
};

std::string list_of(const Expr& expr, std::string head) {
  for (const Name& variable : expr.variables) head += " " + variable.text;
  for (const ExprPtr& child : expr.children) {
    head += (child->optional_entry ? " ?" : " ") + dump(*child);
  }
  return "(" + head + ")";
}

}  // namespace

std::string print(const Expr& expr) {
  Printer printer;
  printer.put(expr);
  return std::move(printer.text);
}

std::string dump(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::null:
      return "null";
    case ExprKind::boolean:
      return expr.boolean ? "true" : "false";
    case ExprKind::integer:
      return std::to_string(expr.integer);
    case ExprKind::real:
      return base::format_real(expr.real);
    case ExprKind::string:
      return quote(expr.text);
    case ExprKind::identifier:
      return (expr.absolute ? "." : "") + expr.text;
    case ExprKind::select:
      return std::string(expr.optional ? "(.? " : "(. ") + dump(*expr.children[0]) + " " +
             quote(expr.text) + ")";
    case ExprKind::has:
      return "(has " + dump(*expr.children[0]) + " " + quote(expr.text) + ")";
    case ExprKind::index:
      return list_of(expr, expr.optional ? "[?]" : "[]");
    case ExprKind::call:
      return list_of(expr, "call " + std::string(expr.absolute ? "." : "") + expr.text);
    case ExprKind::method:
      return list_of(expr, "method " + expr.text);
    case ExprKind::macro:
      return list_of(expr, "macro " + expr.text);
    case ExprKind::bind:
      return list_of(expr, "bind");
    case ExprKind::unary:
    case ExprKind::binary:
    case ExprKind::logic:
      return list_of(expr, expr.text);
    case ExprKind::conditional:
      return list_of(expr, "?");
    case ExprKind::list:
      return list_of(expr, "list");
    case ExprKind::map:
      return list_of(expr, "map");
  }
  return {};
}

}  // namespace gpuctl::cel
