// Recursive descent over the tokens, with a bound on the depth.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "cel/ast.hpp"
#include "cel/lexer.hpp"
#include "cel/macros.hpp"

namespace gpuctl::cel {

namespace {

// Reserved by the language definition: no names of variables or functions, but fine as fields.
constexpr std::array<std::string_view, 17> kReserved = {
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};

/// Binding strength of binary operators; 0 for what is none.
int strength(const Token& token) {
  if (token.kind != TokenKind::symbol) return 0;
  const std::string& text = token.text;
  if (text == "*" || text == "/" || text == "%") return 3;
  if (text == "+" || text == "-") return 2;
  if (text == "==" || text == "!=" || text == "<" || text == "<=" || text == ">" || text == ">=" ||
      text == "in") {
    return 1;
  }
  return 0;
}

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::vector<Problem>& problems)
      : tokens_(std::move(tokens)), problems_(problems) {}

  ExprPtr run() {
    ExprPtr expr = expression();
    if (expr == nullptr) return nullptr;
    if (peek().kind != TokenKind::end) {
      if (peek().text == "{") return unsupported_message(*expr);
      fail_expected("an operator or the end of the expression");
      return nullptr;
    }
    return expr;
  }

 private:
  // Counts nested calls of expression() and unary().
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) { ++parser_.level_; }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    bool too_deep() const { return parser_.level_ > kMostExpressionDepth; }

   private:
    Parser& parser_;
  };

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool is(std::string_view symbol, std::size_t ahead = 0) const {
    const Token& token = peek(ahead);
    return token.kind == TokenKind::symbol && token.text == symbol;
  }
  bool take(std::string_view symbol) {
    if (!is(symbol)) return false;
    ++at_;
    return true;
  }
  std::uint32_t last_end() const { return at_ == 0 ? 0 : tokens_[at_ - 1].end; }

  ExprPtr fail(std::uint32_t begin, std::uint32_t end, std::string message, std::string help = {}) {
    if (problems_.empty()) {
      problems_.push_back({begin, end, std::move(message), std::move(help), true});
    }
    return nullptr;
  }
  ExprPtr fail_expected(const std::string& what) {
    const Token& token = peek();
    if (token.kind == TokenKind::end) {
      return fail(token.begin, token.end, "the expression ends too early, expected " + what);
    }
    std::string found = token.text;
    if (token.kind == TokenKind::string)
      found = "a string";
    else if (token.kind == TokenKind::end)
      found = "the end";
    else
      found = "`" + found + "`";
    return fail(token.begin, token.end, "expected " + what + ", found " + found);
  }
  bool expect(std::string_view symbol) {
    if (take(symbol)) return true;
    fail_expected("`" + std::string(symbol) + "`");
    return false;
  }
  ExprPtr fail_depth() {
    return fail(
        peek().begin, peek().end,
        "the expression is nested deeper than " + std::to_string(kMostExpressionDepth) + " levels",
        "compute a part of it in a local of its own");
  }

  /// Gives a finished node its depth; nullptr when it is too deep.
  ExprPtr finish(ExprPtr expr, std::uint32_t begin) {
    expr->begin = begin;
    expr->end = last_end();
    std::uint32_t deepest = 0;
    for (const ExprPtr& child : expr->children) deepest = std::max(deepest, child->depth);
    expr->depth = deepest + 1;
    if (expr->depth > kMostExpressionDepth) return fail_depth();
    return expr;
  }

  static ExprPtr node(ExprKind kind) {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    return expr;
  }

  ExprPtr expression() {
    const Level level(*this);
    if (level.too_deep()) return fail_depth();
    const std::uint32_t begin = peek().begin;
    ExprPtr condition = logic("||");
    if (condition == nullptr || !take("?")) return condition;
    auto expr = node(ExprKind::conditional);
    expr->children.push_back(std::move(condition));
    expr->children.push_back(logic("||"));
    if (expr->children.back() == nullptr || !expect(":")) return nullptr;
    expr->children.push_back(expression());
    if (expr->children.back() == nullptr) return nullptr;
    return finish(std::move(expr), begin);
  }

  ExprPtr logic(std::string_view symbol) {
    const bool is_or = symbol == "||";
    const std::uint32_t begin = peek().begin;
    ExprPtr first = is_or ? logic("&&") : binary(1);
    if (first == nullptr || !is(symbol)) return first;
    auto expr = node(ExprKind::logic);
    expr->text = symbol;
    expr->children.push_back(std::move(first));
    while (take(symbol)) {
      expr->children.push_back(is_or ? logic("&&") : binary(1));
      if (expr->children.back() == nullptr) return nullptr;
    }
    return finish(std::move(expr), begin);
  }

  ExprPtr binary(int least) {
    const std::uint32_t begin = peek().begin;
    ExprPtr left = unary();
    while (left != nullptr) {
      const int found = strength(peek());
      if (found < least || found == 0) return left;
      auto expr = node(ExprKind::binary);
      expr->text = peek().text;
      expr->text_begin = peek().begin;
      expr->text_end = peek().end;
      ++at_;
      expr->children.push_back(std::move(left));
      expr->children.push_back(binary(found + 1));
      if (expr->children.back() == nullptr) return nullptr;
      left = finish(std::move(expr), begin);
    }
    return nullptr;
  }

  ExprPtr unary() {
    const Level level(*this);
    if (level.too_deep()) return fail_depth();
    const Token& token = peek();
    const bool negative_number =
        is("-") && (peek(1).kind == TokenKind::integer || peek(1).kind == TokenKind::real);
    if ((!is("-") || negative_number) && !is("!")) return member();
    auto expr = node(ExprKind::unary);
    expr->text = token.text;
    const std::uint32_t begin = token.begin;
    ++at_;
    expr->children.push_back(unary());
    if (expr->children.back() == nullptr) return nullptr;
    return finish(std::move(expr), begin);
  }

  ExprPtr member() {
    const std::uint32_t begin = peek().begin;
    ExprPtr expr = primary();
    while (expr != nullptr) {
      if (take(".")) {
        expr = after_dot(std::move(expr), begin);
      } else if (is("[")) {
        ++at_;
        auto index = node(ExprKind::index);
        index->optional = take("?");
        index->children.push_back(std::move(expr));
        index->children.push_back(expression());
        if (index->children.back() == nullptr || !expect("]")) return nullptr;
        expr = finish(std::move(index), begin);
      } else if (is("{") && names_type(*expr)) {
        return unsupported_message(*expr);
      } else {
        return expr;
      }
    }
    return nullptr;
  }

  ExprPtr after_dot(ExprPtr target, std::uint32_t begin) {
    const bool optional = take("?");
    const Token& token = peek();
    if (is("in")) return fail(token.begin, token.end, "`in` is an operator and no field name");
    if (token.kind != TokenKind::identifier && token.kind != TokenKind::quoted) {
      return fail_expected("a field name");
    }
    if (token.text == "true" || token.text == "false" || token.text == "null") {
      if (token.kind == TokenKind::identifier) {
        return fail(token.begin, token.end, "`" + token.text + "` is a literal and no field name",
                    "write `[\"" + token.text + "\"]`");
      }
    }
    ++at_;
    const bool call = token.kind == TokenKind::identifier && is("(");
    if (call && optional) {
      return fail(token.begin, token.end, "`.?` selects a field and calls no function",
                  "call it on what is there: `x.optMap(v, v." + token.text + "(...))`");
    }
    auto expr = node(call ? ExprKind::method : ExprKind::select);
    expr->text = token.text;
    expr->text_begin = token.begin;
    expr->text_end = token.end;
    expr->optional = optional;
    expr->children.push_back(std::move(target));
    if (!call) return finish(std::move(expr), begin);
    if (!arguments(*expr)) return nullptr;
    if (is_bind(*expr)) return bind(std::move(expr), begin);
    const std::uint32_t end = last_end();
    expr->begin = begin;
    expr->end = end;
    if (const MacroShape* shape = find_macro(expr->text, expr->children.size() - 1)) {
      if (!make_macro(*expr, *shape)) return nullptr;
    }
    return finish(std::move(expr), begin);
  }

  /// `cel.bind(x, value, body)`, parsed as a method of `cel`.
  static bool is_bind(const Expr& expr) {
    const Expr& target = *expr.children[0];
    return expr.text == "bind" && expr.children.size() == 4 && !target.absolute &&
           target.kind == ExprKind::identifier && target.text == "cel";
  }

  ExprPtr bind(ExprPtr call, std::uint32_t begin) {
    const Expr& name = *call->children[1];
    if (name.kind != ExprKind::identifier || name.absolute) {
      return fail(name.begin, name.end, "`cel.bind` wants a name here",
                  "for example `cel.bind(gpus, pool.gpus, size(gpus) > 0)`");
    }
    call->variables.push_back({name.text, name.begin, name.end});
    call->children.erase(call->children.begin(), call->children.begin() + 2);
    call->kind = ExprKind::bind;
    return finish(std::move(call), begin);
  }

  /// Turns `range.all(x, test)` from a call into a macro.
  bool make_macro(Expr& expr, const MacroShape& shape) {
    for (std::size_t i = 1; i <= shape.variables; ++i) {
      const Expr& name = *expr.children[i];
      if (name.kind != ExprKind::identifier || name.absolute) {
        fail(name.begin, name.end, "`" + expr.text + "` wants the name of a loop variable here",
             "for example `list." + expr.text + "(item, ...)`");
        return false;
      }
      for (const Name& other : expr.variables) {
        if (other.text == name.text) {
          fail(name.begin, name.end, "the loop variables have the same name");
          return false;
        }
      }
      expr.variables.push_back({name.text, name.begin, name.end});
    }
    expr.children.erase(expr.children.begin() + 1,
                        expr.children.begin() + 1 + static_cast<std::ptrdiff_t>(shape.variables));
    expr.kind = ExprKind::macro;
    return true;
  }

  /// `(a, b)` of a call; appends to the children.
  bool arguments(Expr& expr) {
    if (!expect("(")) return false;
    if (take(")")) return true;
    do {
      expr.children.push_back(expression());
      if (expr.children.back() == nullptr) return false;
    } while (take(","));
    return expect(")");
  }

  ExprPtr primary() {
    const Token& token = peek();
    const std::uint32_t begin = token.begin;
    switch (token.kind) {
      case TokenKind::integer:
      case TokenKind::real:
        return number();
      case TokenKind::string: {
        auto expr = node(ExprKind::string);
        expr->text = token.text;
        ++at_;
        return finish(std::move(expr), begin);
      }
      case TokenKind::identifier:
        return name();
      case TokenKind::quoted:
        return fail(token.begin, token.end, "a name in backticks may only follow a dot");
      case TokenKind::end:
        return fail_expected("a value");
      case TokenKind::symbol:
        break;
    }
    if (is("-")) return number();
    if (take("(")) {
      ExprPtr inner = expression();
      if (inner == nullptr || !expect(")")) return nullptr;
      return inner;
    }
    if (is("[")) return list();
    if (is("{")) return map();
    if (is(".")) return name();
    return fail_expected("a value");
  }

  ExprPtr number() {
    const std::uint32_t begin = peek().begin;
    const bool negative = take("-");
    const Token& token = peek();
    ++at_;
    if (token.kind == TokenKind::real) {
      auto expr = node(ExprKind::real);
      expr->real = negative ? -token.real : token.real;
      return finish(std::move(expr), begin);
    }
    std::string_view digits = token.text;
    int base = 10;
    if (digits.size() > 2 && (digits[1] == 'x' || digits[1] == 'X')) {
      digits.remove_prefix(2);
      base = 16;
    }
    const std::string text = (negative ? "-" : "") + std::string(digits);
    auto expr = node(ExprKind::integer);
    const auto result =
        std::from_chars(text.data(), text.data() + text.size(), expr->integer, base);
    if (result.ec != std::errc()) {
      return fail(begin, token.end, "the number does not fit a 64-bit integer",
                  "write a double: `" + std::string(negative ? "-" : "") + token.text + ".0`");
    }
    return finish(std::move(expr), begin);
  }

  ExprPtr name() {
    const std::uint32_t begin = peek().begin;
    const bool absolute = take(".");
    const Token& token = peek();
    if (token.kind != TokenKind::identifier) return fail_expected("a name");
    if (!absolute) {
      if (token.text == "null" || token.text == "true" || token.text == "false") {
        auto expr = node(token.text == "null" ? ExprKind::null : ExprKind::boolean);
        expr->boolean = token.text == "true";
        ++at_;
        return finish(std::move(expr), begin);
      }
    }
    if (is_reserved(token.text)) {
      return fail(token.begin, token.end, "`" + token.text + "` is a reserved word");
    }
    ++at_;
    auto expr = node(is("(") ? ExprKind::call : ExprKind::identifier);
    expr->text = token.text;
    expr->text_begin = token.begin;
    expr->text_end = token.end;
    expr->absolute = absolute;
    if (expr->kind == ExprKind::identifier) return finish(std::move(expr), begin);
    if (!arguments(*expr)) return nullptr;
    if (expr->text == "has" && !absolute) return has(std::move(expr), begin);
    return finish(std::move(expr), begin);
  }

  ExprPtr has(ExprPtr call, std::uint32_t begin) {
    if (call->children.size() != 1 || call->children[0]->kind != ExprKind::select ||
        call->children[0]->optional) {
      return fail(begin, last_end(), "`has` wants one field selection",
                  "for example `has(pool.name)`; for an index: `\"key\" in map`");
    }
    ExprPtr select = std::move(call->children[0]);
    select->kind = ExprKind::has;
    return finish(std::move(select), begin);
  }

  /// An item of a list or a key of a map, with its `?`.
  bool entry(Expr& expr) {
    const bool optional = take("?");
    expr.children.push_back(expression());
    if (expr.children.back() == nullptr) return false;
    expr.children.back()->optional_entry = optional;
    return true;
  }

  ExprPtr list() {
    const std::uint32_t begin = peek().begin;
    take("[");
    auto expr = node(ExprKind::list);
    while (!is("]")) {
      if (!entry(*expr)) return nullptr;
      if (!take(",")) break;
    }
    if (!is("]")) return fail_expected("`,` or `]`");
    ++at_;
    return finish(std::move(expr), begin);
  }

  ExprPtr map() {
    const std::uint32_t begin = peek().begin;
    take("{");
    auto expr = node(ExprKind::map);
    while (!is("}")) {
      if (!entry(*expr) || !expect(":")) return nullptr;
      expr->children.push_back(expression());
      if (expr->children.back() == nullptr) return nullptr;
      if (!take(",")) break;
    }
    if (!is("}")) return fail_expected("`,` or `}`");
    ++at_;
    return finish(std::move(expr), begin);
  }

  static bool names_type(const Expr& expr) {
    const Expr* at = &expr;
    while (at->kind == ExprKind::select) at = at->children[0].get();
    return at->kind == ExprKind::identifier;
  }

  ExprPtr unsupported_message(const Expr& expr) {
    return fail(expr.begin, peek().end, "message construction `T{...}` is not supported",
                "a map is written `{\"field\": value}`");
  }
  std::vector<Token> tokens_;
  std::vector<Problem>& problems_;
  std::size_t at_ = 0;
  std::size_t level_ = 0;
};

}  // namespace

bool is_reserved(std::string_view word) {
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

ExprPtr parse(std::string_view text, std::vector<Problem>& problems) {
  if (text.size() > kMostExpressionBytes) {
    problems.push_back(
        {0,
         0,
         "the expression is longer than " + std::to_string(kMostExpressionBytes) + " bytes",
         {},
         true});
    return nullptr;
  }
  std::size_t bad = 0;
  if (!base::valid_utf8(text, &bad)) {
    const auto at = static_cast<std::uint32_t>(bad);
    problems.push_back({at, at + 1, "the expression is not valid UTF-8", {}, true});
    return nullptr;
  }
  std::vector<Problem> own;
  std::vector<Token> tokens = tokenize(text, own);
  ExprPtr expr = own.empty() ? Parser(std::move(tokens), own).run() : nullptr;
  problems.insert(problems.end(), own.begin(), own.end());
  return own.empty() ? std::move(expr) : nullptr;
}

}  // namespace gpuctl::cel
