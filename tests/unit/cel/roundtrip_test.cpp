// parse(print(x)) == x, on trees that a generator makes.
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cel/ast.hpp"

namespace gpuctl::cel {
namespace {

bool same(const Expr& a, const Expr& b) {
  const bool own = a.kind == b.kind && a.boolean == b.boolean && a.absolute == b.absolute &&
                   a.optional == b.optional && a.optional_entry == b.optional_entry &&
                   a.integer == b.integer &&
                   std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real) &&
                   a.text == b.text && a.variables.size() == b.variables.size() &&
                   a.children.size() == b.children.size();
  if (!own) return false;
  for (std::size_t i = 0; i < a.variables.size(); ++i) {
    if (a.variables[i].text != b.variables[i].text) return false;
  }
  for (std::size_t i = 0; i < a.children.size(); ++i) {
    if (!same(*a.children[i], *b.children[i])) return false;
  }
  return true;
}

/// Makes trees as the parser does.
class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  ExprPtr make(int depth) {
    if (depth == 0) return leaf();
    switch (pick(15)) {
      case 0:
        return leaf();
      case 1: {
        ExprPtr expr = node(ExprKind::select, depth, 1);
        expr->text = field();
        expr->optional = coin();
        return expr;
      }
      case 2: {
        ExprPtr expr = node(ExprKind::has, depth, 1);
        expr->text = field();
        return expr;
      }
      case 3: {
        ExprPtr expr = node(ExprKind::index, depth, 2);
        expr->optional = coin();
        return expr;
      }
      case 4: {
        ExprPtr expr = node(ExprKind::call, depth, pick(3));
        expr->text = name();
        expr->absolute = coin();
        return expr;
      }
      case 5: {
        ExprPtr expr = node(ExprKind::method, depth, 1 + pick(3));
        expr->text = coin() ? name() : std::string("if");
        return expr;
      }
      case 6: {
        ExprPtr expr = node(ExprKind::unary, depth, 1);
        expr->text = coin() ? "!" : "-";
        const ExprKind operand = expr->children[0]->kind;
        // A minus and a number are one literal.
        if (operand == ExprKind::integer || operand == ExprKind::real) expr->text = "!";
        return expr;
      }
      case 7:
      case 8: {
        static constexpr const char* kOperators[] = {
            "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in"};
        ExprPtr expr = node(ExprKind::binary, depth, 2);
        expr->text = kOperators[pick(12)];
        return expr;
      }
      case 9: {
        ExprPtr expr = node(ExprKind::logic, depth, 2 + pick(2));
        expr->text = coin() ? "&&" : "||";
        return expr;
      }
      case 10:
        return node(ExprKind::conditional, depth, 3);
      case 11:
        return entries(node(ExprKind::list, depth, pick(4)), 1);
      case 12:
        return entries(node(ExprKind::map, depth, 2 * pick(3)), 2);
      case 13: {
        ExprPtr expr = node(ExprKind::bind, depth, 2);
        expr->text = "bind";
        expr->variables.push_back({name(), 0, 0});
        return expr;
      }
      default:
        return macro(depth);
    }
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  bool coin() { return pick(2) == 0; }

  ExprPtr node(ExprKind kind, int depth, std::size_t children) {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    for (std::size_t i = 0; i < children; ++i) {
      expr->children.push_back(make(static_cast<int>(pick(static_cast<std::size_t>(depth)))));
    }
    return expr;
  }

  ExprPtr entries(ExprPtr expr, std::size_t step) {
    for (std::size_t i = 0; i < expr->children.size(); i += step) {
      expr->children[i]->optional_entry = pick(3) == 0;
    }
    return expr;
  }

  ExprPtr macro(int depth) {
    struct Shape {
      const char* name;
      std::size_t variables;
      std::size_t expressions;
    };
    static constexpr Shape kShapes[] = {{"all", 1, 1},           {"exists", 2, 1},
                                        {"map", 1, 2},           {"filter", 1, 1},
                                        {"transformList", 2, 2}, {"transformMapEntry", 2, 1},
                                        {"sortBy", 1, 1},        {"optMap", 1, 1}};
    const Shape& shape = kShapes[pick(8)];
    ExprPtr expr = node(ExprKind::macro, depth, 1 + shape.expressions);
    expr->text = shape.name;
    for (std::size_t i = 0; i < shape.variables; ++i) {
      expr->variables.push_back({i == 0 ? "k" : "v", 0, 0});
    }
    return expr;
  }

  ExprPtr leaf() {
    auto expr = std::make_unique<Expr>();
    switch (pick(8)) {
      case 0:
        expr->kind = ExprKind::null;
        break;
      case 1:
        expr->kind = ExprKind::boolean;
        expr->boolean = coin();
        break;
      case 2:
        expr->kind = ExprKind::integer;
        expr->integer =
            coin() ? static_cast<std::int64_t>(pick(10)) - 5
                   : static_cast<std::int64_t>((std::uint64_t{random_()} << 32) | random_());
        break;
      case 3:
        expr->kind = ExprKind::real;
        expr->real = real();
        break;
      case 4:
        expr->kind = ExprKind::string;
        expr->text = text();
        break;
      default:
        expr->kind = ExprKind::identifier;
        expr->text = name();
        expr->absolute = pick(6) == 0;
    }
    return expr;
  }

  double real() {
    switch (pick(3)) {
      case 0:
        return coin() ? 0.0 : -0.0;
      case 1:
        return static_cast<double>(random_()) / 1024 - 1000;
      default: {
        const auto bits = (std::uint64_t{random_()} << 32) | random_();
        const auto any = std::bit_cast<double>(bits);
        return any - any == 0 ? any : 1.5;  // not infinity, not NaN
      }
    }
  }

  std::string text() {
    static constexpr const char* kParts[] = {"a",  "'",  "\"", "\\",     "\n",       "\r",  "\t",
                                             "`",  "é",  "😀",  "\x01",   "\x7f",     "${",  "}",
                                             "//", "\\", "?",  "\u2028", "\xC2\x85", "\a\b"};
    std::string out;
    for (std::size_t i = pick(6); i > 0; --i) out += kParts[pick(20)];
    if (pick(8) == 0) out.push_back('\0');
    return out;
  }

  std::string name() {
    static constexpr const char* kNames[] = {"a", "b1", "_x", "cel", "bind", "e3", "u", "r", "B"};
    return kNames[pick(9)];
  }

  std::string field() {
    static constexpr const char* kFields[] = {"if",   "in",    "true",      "null", "x-y/z",
                                              "a.b ", "1",     "namespace", "",     "",
                                              "",     "f.com", "__dash__",  ""};
    const std::string picked = kFields[pick(14)];
    return picked.empty() ? name() : picked;
  }

  std::mt19937 random_;
};

/// Where a group of parentheses could be left out without changing the tree; npos when nowhere.
std::size_t needless_parenthesis(const std::string& text, const Expr& expr) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (text[i] == '(') {
      open.push_back(i);
    } else if (text[i] == ')') {
      std::string shorter = text;
      shorter.erase(i, 1);
      shorter.erase(open.back(), 1);
      std::vector<Problem> problems;
      const ExprPtr other = parse(shorter, problems);
      if (other != nullptr && same(*other, expr)) return open.back();
      open.pop_back();
    }
  }
  return std::string::npos;
}

TEST(RoundTrip, GeneratedTrees) {
  Generator generator(20'261'121);
  std::size_t longest = 0;
  for (int i = 0; i < 20'000; ++i) {
    const ExprPtr expr = generator.make(1 + i % 6);
    const std::string text = print(*expr);
    std::vector<Problem> problems;
    const ExprPtr again = parse(text, problems);
    ASSERT_NE(again, nullptr) << text << ": " << problems.front().message;
    ASSERT_TRUE(same(*expr, *again)) << text << "\n" << dump(*expr) << "\n" << dump(*again);
    ASSERT_EQ(print(*again), text);
    if (text.size() < 100) {
      EXPECT_EQ(needless_parenthesis(text, *expr), std::string::npos) << text;
    }
    longest = std::max(longest, text.size());
  }
  EXPECT_GT(longest, 300U);
}

/// dump() tells apart what same() tells apart: tests rely on it.
TEST(RoundTrip, DumpsDiffer) {
  const char* texts[] = {"a.b",      "a.?b",   "has(a.b)", "a[b]",        "a[?b]",
                         "[a]",      "[?a]",   "{a: b}",   "{?a: b}",     "a(b)",
                         ".a(b)",    ".a",     "a",        "\"a\"",       "1",
                         "1.0",      "-1",     "-(1)",     "-0.0",        "0.0",
                         "a || b",   "a && b", "a.f(b)",   "a.map(b, c)", "[a, b]",
                         "[a, [b]]", "!a",     "-a",       "a ? b : c",   "null",
                         "true",     "false",  "a.`b-c`",  "a.all(b, c)", "cel.bind(a, b, c)"};
  std::set<std::string> dumps;
  for (const char* text : texts) {
    std::vector<Problem> problems;
    const ExprPtr expr = parse(text, problems);
    ASSERT_NE(expr, nullptr) << text;
    EXPECT_TRUE(dumps.insert(dump(*expr)).second) << text << ": " << dump(*expr);
  }
}

}  // namespace
}  // namespace gpuctl::cel
