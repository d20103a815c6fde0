#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cel/ast.hpp"

namespace gpuctl::cel {
namespace {

struct Case {
  const char* text = nullptr;
  const char* tree = nullptr;
  const char* printed = nullptr;  // when it differs from `text`
};

TEST(Parser, BuildsTreesAndPrintsThemBack) {
  const Case cases[] = {
      {"1", "1"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"0x1F", "31", "31"},
      {"-0x10", "-16", "-16"},
      {".5", "0.5", "0.5"},
      {"1e3", "1000.0", "1000.0"},
      {"true", "true"},
      {"null", "null"},
      {"a", "a"},
      {".a", ".a"},
      {"a.b.c", "(. (. a \"b\") \"c\")"},
      {"a.`x-y/z`", "(. a \"x-y/z\")"},
      {"a.if", "(. a \"if\")"},
      {"a[0]['k']", "([] ([] a 0) \"k\")", "a[0][\"k\"]"},
      {"f()", "(call f)"},
      {"f(1, a)", "(call f 1 a)"},
      {"x.f(1)", "(method f x 1)"},
      {"a.b.f()", "(method f (. a \"b\"))"},
      {"has(a.b)", "(has a \"b\")"},
      {"1 + 2 * 3", "(+ 1 (* 2 3))"},
      {"(1 + 2) * 3", "(* (+ 1 2) 3)"},
      {"1 - 2 - 3", "(- (- 1 2) 3)"},
      {"1 - (2 - 3)", "(- 1 (- 2 3))"},
      {"a-1", "(- a 1)", "a - 1"},
      {"a - -1", "(- a -1)"},
      {"-a", "(- a)"},
      {"-(5)", "(- 5)"},
      {"--5", "(- -5)"},
      {"!!a", "(! (! a))"},
      {"!a.b", "(! (. a \"b\"))"},
      {"(!a).b", "(. (! a) \"b\")"},
      {"-5.abs()", "(method abs -5)"},
      {"-(5.abs())", "(- (method abs 5))"},
      {"a < b == c", "(== (< a b) c)"},
      {"a < (b == c)", "(< a (== b c))"},
      {"a in b", "(in a b)"},
      {"a || b && c || d", "(|| a (&& b c) d)"},
      {"(a || b) && c", "(&& (|| a b) c)"},
      {"a || (b || c)", "(|| a (|| b c))"},
      {"a ? b : c ? d : e", "(? a b (? c d e))"},
      {"(a ? b : c) ? d : e", "(? (? a b c) d e)"},
      {"a ? (b ? c : d) : e", "(? a (? b c d) e)"},
      {"[]", "(list)"},
      {"[1, 2,]", "(list 1 2)", "[1, 2]"},
      {"{}", "(map)"},
      {"{'a': 1, 2: b,}", "(map \"a\" 1 2 b)", "{\"a\": 1, 2: b}"},
      {"l.all(x, x > 0)", "(macro all x l (> x 0))"},
      {"l.exists(i, x, i > x)", "(macro exists i x l (> i x))"},
      {"l.map(x, x > 1, x * 2)", "(macro map x l (> x 1) (* x 2))"},
      {"m.transformMap(k, v, v)", "(macro transformMap k v m v)"},
      {"l.all(x)", "(method all l x)"},  // no form of the macro: an ordinary method
      {"a // comment\n+ b", "(+ a b)", "a + b"},
      {"mig.place(a)", "(method place mig a)"},
      {"a.?b", "(.? a \"b\")"},
      {"a.?b.c[0]", "([] (. (.? a \"b\") \"c\") 0)"},
      {"a[?0]", "([?] a 0)"},
      {"a.?`x-y`", "(.? a \"x-y\")"},
      {"[?a, b, ?c.?d]", "(list ?a b ?(.? c \"d\"))"},
      {"{?\"k\": a, \"l\": b}", "(map ?\"k\" a \"l\" b)"},
      {"a ?.b : c", "(? a .b c)", "a ? .b : c"},
      {"a?[?b]:c", "(? a (list ?b) c)", "a ? [?b] : c"},
      {"cel.bind(x, 1, x + x)", "(bind x 1 (+ x x))"},
      {"o.optMap(v, v + 1)", "(macro optMap v o (+ v 1))"},
      {"l.sortBy(x, x.name)", "(macro sortBy x l (. x \"name\"))"},
      {"cel.bind(x, 1)", "(method bind cel x 1)"},
      {".cel.bind(x, 1, 2)", "(method bind .cel x 1 2)"},
  };
  for (const Case& test : cases) {
    std::vector<Problem> problems;
    const ExprPtr expr = parse(test.text, problems);
    ASSERT_NE(expr, nullptr) << test.text << ": " << problems.front().message;
    EXPECT_EQ(dump(*expr), test.tree) << test.text;
    EXPECT_EQ(print(*expr), test.printed == nullptr ? test.text : test.printed);
    const ExprPtr again = parse(print(*expr), problems);
    ASSERT_NE(again, nullptr) << test.text;
    EXPECT_EQ(dump(*again), dump(*expr)) << test.text;
  }
}

TEST(Parser, ReadsStrings) {
  const std::pair<const char*, std::string> cases[] = {
      {R"('a')", "a"},          {R"("a'b")", "a'b"},
      {R"('a\'b')", "a'b"},     {R"('\a\b\f\n\r\t\v\\\?\"\'\`')", "\a\b\f\n\r\t\v\\?\"'`"},
      {R"('\x41\X42')", "AB"},  {R"('\xff')", "\xC3\xBF"},
      {R"('\101')", "A"},       {R"('\u00e9\U0001F600')", "\xC3\xA9\xF0\x9F\x98\x80"},
      {R"(r'\n\d')", "\\n\\d"}, {R"(R"\")", "\\"},
      {"'''a\n'b'''", "a\n'b"}, {"\"\"\"a\"\"b\"\"\"", "a\"\"b"},
      {"r'''\\\n'''", "\\\n"},  {"''", ""},
  };
  for (const auto& [text, value] : cases) {
    std::vector<Problem> problems;
    const ExprPtr expr = parse(text, problems);
    ASSERT_NE(expr, nullptr) << text << ": " << problems.front().message;
    ASSERT_EQ(expr->kind, ExprKind::string) << text;
    EXPECT_EQ(expr->text, value) << text;
  }
}

TEST(Parser, GivesNodesTheirPlace) {
  std::vector<Problem> problems;
  const ExprPtr expr = parse("  a.bc + (d)", problems);
  ASSERT_NE(expr, nullptr);
  EXPECT_EQ(expr->begin, 2U);
  EXPECT_EQ(expr->end, 12U);
  const Expr& select = *expr->children[0];
  EXPECT_EQ(select.begin, 2U);
  EXPECT_EQ(select.end, 6U);
  EXPECT_EQ(select.text_begin, 4U);
  EXPECT_EQ(select.text_end, 6U);
  EXPECT_EQ(expr->children[1]->begin, 10U);
}

struct Fault {
  const char* text;
  std::uint32_t begin;
  std::uint32_t end;
  const char* message;
};

TEST(Parser, ReportsFaultsAtTheirPlace) {
  const Fault faults[] = {
      {"", 0, 0, "the expression ends too early, expected a value"},
      {"a +", 3, 3, "the expression ends too early, expected a value"},
      {"a +  // b\n\n", 3, 3, "the expression ends too early, expected a value"},
      {"  \n", 0, 0, "the expression ends too early, expected a value"},
      {"a b", 2, 3, "expected an operator or the end of the expression, found `b`"},
      {"(a", 2, 2, "the expression ends too early, expected `)`"},
      {"[1 2]", 3, 4, "expected `,` or `]`, found `2`"},
      {"{1}", 2, 3, "expected `:`, found `}`"},
      {"a ? b", 5, 5, "the expression ends too early, expected `:`"},
      {"a = b", 2, 3, "unexpected character `=`"},
      {"a & b", 2, 3, "unexpected character `&`"},
      {"a \xC3\xA9", 2, 4, "unexpected character `\xC3\xA9`"},
      {"'a", 0, 2, "the string has no closing quote"},
      {"'a\nb'", 0, 2, "the string has no closing quote on its line"},
      {"'a\\q'", 2, 4, "unknown escape sequence"},
      {"'\\ud800'", 1, 7, "the escape is no Unicode code point"},
      {"'\\x4'", 1, 4, "the escape `\\x` needs 2 hexadecimal digits"},
      {"9223372036854775808", 0, 19, "the number does not fit a 64-bit integer"},
      {"1e999", 0, 5, "the number does not fit a double"},
      {"1a", 0, 2, "a number runs into a name"},
      {"1u", 0, 2, "unsigned integer literals are not supported"},
      {"0x1U", 0, 4, "unsigned integer literals are not supported"},
      {"b'x'", 0, 2, "bytes literals are not supported"},
      {"a.?b()", 3, 4, "`.?` selects a field and calls no function"},
      {"a.?", 3, 3, "the expression ends too early, expected a field name"},
      {"a?.b", 4, 4, "the expression ends too early, expected `:`"},
      {"a.??b", 3, 4, "expected a field name, found `?`"},
      {"f(?a)", 2, 3, "expected a value, found `?`"},
      {"{a: ?b}", 4, 5, "expected a value, found `?`"},
      {"has(a.?b)", 0, 9, "`has` wants one field selection"},
      {"cel.bind(1, 2, 3)", 9, 10, "`cel.bind` wants a name here"},
      {"T{a: 1}", 0, 2, "message construction `T{...}` is not supported"},
      {"a.b.T{}", 0, 6, "message construction `T{...}` is not supported"},
      {"if", 0, 2, "`if` is a reserved word"},
      {"a.in", 2, 4, "`in` is an operator and no field name"},
      {"has(a)", 0, 6, "`has` wants one field selection"},
      {"l.all(x.y, true)", 6, 9, "`all` wants the name of a loop variable here"},
      {"l.all(x, x, true)", 9, 10, "the loop variables have the same name"},
      {"a.`b", 2, 4, "the field name in backticks has no end"},
  };
  for (const Fault& fault : faults) {
    std::vector<Problem> problems;
    EXPECT_EQ(parse(fault.text, problems), nullptr) << fault.text;
    ASSERT_EQ(problems.size(), 1U) << fault.text;
    EXPECT_EQ(problems[0].message, fault.message) << fault.text;
    EXPECT_EQ(problems[0].begin, fault.begin) << fault.text;
    EXPECT_EQ(problems[0].end, fault.end) << fault.text;
    EXPECT_TRUE(problems[0].syntax) << fault.text;
  }
}

std::string repeated(const std::string& part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

TEST(Parser, BoundsDepthAndLength) {
  const auto parses = [](const std::string& text) {
    std::vector<Problem> problems;
    const bool good = parse(text, problems) != nullptr;
    EXPECT_EQ(good, problems.empty());
    return good;
  };
  EXPECT_TRUE(parses(repeated("(", 60) + "1" + repeated(")", 60)));
  EXPECT_FALSE(parses(repeated("(", 50'000)));
  EXPECT_FALSE(parses(repeated("(", 200) + "1" + repeated(")", 200)));
  EXPECT_FALSE(parses(repeated("[", 20'000)));
  EXPECT_FALSE(parses(repeated("!", 20'000) + "a"));
  EXPECT_FALSE(parses(repeated("-", 20'000) + "a"));
  EXPECT_FALSE(parses(repeated("a ? b : ", 5'000) + "c"));
  EXPECT_FALSE(parses(repeated("f(", 10'000)));
  EXPECT_TRUE(parses(repeated("a + ", 120) + "a"));
  EXPECT_FALSE(parses(repeated("a + ", 130) + "a"));
  EXPECT_FALSE(parses("a" + repeated(".b", 5'000)));
  // Chains of `&&` and `||` are flat.
  EXPECT_TRUE(parses(repeated("a || ", 5'000) + "a"));
  EXPECT_FALSE(parses(std::string(kMostExpressionBytes + 1, ' ') + "1"));
  EXPECT_TRUE(parses(std::string(kMostExpressionBytes - 1, ' ') + "1"));
  EXPECT_FALSE(parses("'\xFF'"));
}

}  // namespace
}  // namespace gpuctl::cel
