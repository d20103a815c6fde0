// The bounds of expressions: at the limit all is well, one further is a problem or an error with a
// place, far beyond it, too.
#include <gtest/gtest.h>

#include <string>

#include "cel/ast.hpp"
#include "cel/pattern.hpp"

namespace gpuctl::cel {
namespace {

std::string repeated(const std::string& part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

/// One way to nest: `open` n times, `middle`, `close` n times.
struct Nesting {
  const char* open;
  const char* middle;
  const char* close;
};

std::string nested(const Nesting& nesting, std::size_t count) {
  return repeated(nesting.open, count) + nesting.middle + repeated(nesting.close, count);
}

constexpr Nesting kNestings[] = {
    {"(", "a", ")"},
    {"[", "a", "]"},
    {"[?", "a", "]"},
    {"{1: ", "a", "}"},
    {"{", "a", ": 1}"},
    {"{?1: ", "a", "}"},
    {"!", "a", ""},
    {"-", "a", ""},
    {"!-", "a", ""},
    {"-(", "a", ")"},
    {"", "a", ".b"},
    {"", "a", ".?b"},
    {"", "a", "[0]"},
    {"", "a", "[?0]"},
    {"a[", "a", "]"},
    {"f(", "a", ")"},
    {"dyn(", "a", ")"},
    {"", "a", ".size()"},
    {"", "a", ".f(1)"},
    {"a.f(", "a", ")"},
    {"x.contains(", "a", ")"},
    {"has(", "a", ".b).c"},
    {"a ? (", "b", ") : c"},
    {"a ? b : ", "c", ""},
    {"", "a", " ? b : c"},
    {"(a ? ", "b", " : c)"},
    {"a + ", "a", ""},
    {"a - (", "a", ")"},
    {"a * ", "a", ""},
    {"a == (", "a", ")"},
    {"a in ", "a", ""},
    {"a || (", "a", ")"},
    {"a && (b || ", "a", ")"},
    {"[1].map(x, ", "a", ")"},
    {"[1].all(x, ", "a", ")"},
    {"[1].exists(i, x, ", "a", ")"},
    {"{1: 2}.transformMap(k, v, ", "a", ")"},
    {"", "[a]", ".map(x, x)"},
    {"", "[a]", ".filter(x, true)"},
    {"[1].sortBy(x, ", "a", ")"},
    {"optional.of(1).optMap(x, ", "a", ")"},
    {"cel.bind(x, 1, ", "a", ")"},
    {"cel.bind(x, ", "a", ", x)"},
    {"a.b.c(", "a", ")"},
};

/// Compiles, prints, dumps and evaluates; false when the expression is nested too deep.
bool survives(const std::string& text) {
  Environment environment;
  environment.variables = {{"a", Type::dyn()}, {"b", Type::dyn()}, {"c", Type::dyn()}};
  std::vector<Problem> problems;
  std::shared_ptr<const Program> program = compile(text, environment, problems);
  if (program == nullptr) {
    std::vector<Problem> others;
    program = compile_unchecked(text, environment, others);
    if (program == nullptr) {
      EXPECT_EQ(problems.size(), 1U) << text.substr(0, 100);
      EXPECT_TRUE(problems[0].syntax);
      EXPECT_LE(problems[0].begin, problems[0].end);
      EXPECT_LE(problems[0].end, text.size());
      EXPECT_NE(problems[0].message.find("deep"), std::string::npos)
          << problems[0].message << ": " << text.substr(0, 100);
      return false;
    }
  }
  EXPECT_FALSE(print(*program).empty());
  EXPECT_FALSE(dump(tree(*program)).empty());
  EXPECT_EQ(dump(*parse(print(*program), problems)), dump(tree(*program)));
  yaml::Arena arena;
  const std::vector<Value> values(3, Value(yaml::Node::boolean(true)));
  const Outcome outcome = evaluate(*program, values, arena);
  if (!outcome.ok()) {
    EXPECT_FALSE(outcome.error->message.empty());
  }
  return true;
}

TEST(Limits, DepthOfEverySyntax) {
  for (const Nesting& nesting : kNestings) {
    std::size_t most = 0;
    std::size_t too_many = kMostExpressionDepth + 1;
    while (too_many - most > 1) {
      const std::size_t middle = (most + too_many) / 2;
      (survives(nested(nesting, middle)) ? most : too_many) = middle;
    }
    // Some count twice at each level, for a call and its argument.
    EXPECT_GE(most, kMostExpressionDepth / 3) << nesting.open << nesting.middle << nesting.close;
    EXPECT_LE(most, kMostExpressionDepth) << nesting.open << nesting.middle << nesting.close;
    const std::size_t pair = std::string(nesting.open).size() + std::string(nesting.close).size();
    EXPECT_FALSE(survives(nested(nesting, (kMostExpressionBytes - 10) / pair)))
        << nesting.open << nesting.middle << nesting.close;
    // Without its end: deep all the same, or just not finished.
    std::vector<Problem> problems;
    const std::string open = repeated(nesting.open, 10'000 / (pair + 1));
    EXPECT_EQ(parse(open, problems), nullptr);
    EXPECT_EQ(problems.size(), 1U);
  }
}

TEST(Limits, ExactDepth) {
  EXPECT_TRUE(survives(nested({"", "a", ".b"}, kMostExpressionDepth - 1)));
  EXPECT_FALSE(survives(nested({"", "a", ".b"}, kMostExpressionDepth)));
  EXPECT_TRUE(survives(nested({"a + ", "a", ""}, kMostExpressionDepth - 1)));
  EXPECT_FALSE(survives(nested({"a + ", "a", ""}, kMostExpressionDepth)));
  // Chains of `&&` and `||`, arguments, items and entries count once.
  EXPECT_TRUE(survives(repeated("a || ", 5'000) + "a"));
  EXPECT_TRUE(survives(repeated("a && ", 5'000) + "a"));
  EXPECT_TRUE(survives("[" + repeated("1, ", 20'000) + "]"));
  EXPECT_TRUE(survives("math.greatest(1" + repeated(", 1", 20'000) + ")"));
}

TEST(Limits, Length) {
  const auto problems_of = [](const std::string& text) {
    std::vector<Problem> problems;
    const bool good = parse(text, problems) != nullptr;
    EXPECT_EQ(good, problems.empty());
    return good ? std::string() : problems.front().message;
  };
  EXPECT_EQ(problems_of(std::string(kMostExpressionBytes - 1, ' ') + "1"), "");
  EXPECT_EQ(problems_of(std::string(kMostExpressionBytes, ' ') + "1"),
            "the expression is longer than 65536 bytes");
  EXPECT_EQ(problems_of("'" + std::string(kMostExpressionBytes - 2, 'x') + "'"), "");
  EXPECT_EQ(problems_of("'" + std::string(kMostExpressionBytes - 1, 'x') + "'"),
            "the expression is longer than 65536 bytes");
  EXPECT_EQ(problems_of("'" + std::string(kMostExpressionBytes - 1, 'x')),
            "the string has no closing quote");
  EXPECT_EQ(problems_of("'''" + std::string(kMostExpressionBytes - 3, '\'')),
            "the string has no closing quote");
}

/// Evaluates an expression of constants; the error's kind and message, or "".
std::string fault_of(const std::string& text, EvalError::Kind kind = EvalError::Kind::budget) {
  std::vector<Problem> problems;
  const auto program = compile(text, Environment(), problems);
  if (program == nullptr) return "problem: " + problems.front().message;
  yaml::Arena arena;
  const Outcome outcome = evaluate(*program, {}, arena);
  if (outcome.ok()) return {};
  EXPECT_EQ(outcome.error->kind, kind) << text << ": " << outcome.error->message;
  EXPECT_LT(outcome.error->begin, outcome.error->end) << text;
  EXPECT_LE(outcome.error->end, text.size()) << text;
  return outcome.error->message;
}

TEST(Limits, Steps) {
  const std::string exhausted = "the evaluation needs more than 5000000 steps";
  const auto range = [](std::uint64_t count) {
    return "lists.range(" + std::to_string(count) + ")";
  };
  // Two operations, the items made, and the result looked at.
  const std::uint64_t made = (kMostSteps - 2) / (kStepsPerItem + 1);
  EXPECT_EQ(fault_of(range(made)), "");
  EXPECT_EQ(fault_of(range(made + 1)), exhausted);
  // Three operations, and the items made.
  const std::uint64_t counted = (kMostSteps - 3) / kStepsPerItem;
  EXPECT_EQ(fault_of(range(counted) + ".size()"), "");
  EXPECT_EQ(fault_of(range(counted + 1) + ".size()"), exhausted);
  // Two for each item of a loop, itself and its body.
  const std::uint64_t looped = (kMostSteps - 3) / (kStepsPerItem + 2);
  EXPECT_EQ(fault_of(range(looped) + ".all(x, true)"), "");
  EXPECT_EQ(fault_of(range(looped + 1) + ".all(x, true)"), exhausted);
}

TEST(Limits, OfWhatFunctionsMake) {
  // Text of a kilobyte, and of half a megabyte.
  const std::string kilobyte = "cel.bind(k, lists.range(1000).map(i, 'x').join(), ";
  const std::string megabyte = kilobyte + "cel.bind(m, k.replace('x', k.substring(0, 500)), ";
  EXPECT_EQ(fault_of(megabyte + "m.size()))"), "");
  const std::string exhausted = "the evaluation needs more than 5000000 steps";
  for (const char* body :
       {"m.replace('x', k)", "m.replace('', k)",
        "[m, m, m].join(k).replace('x', 'yyyyyyyyyyyyyyy')", "m.split('').map(c, m).join()",
        "lists.range(100000).map(i, m + m).size()", "m.contains(m.substring(1) + 'y')",
        "m.indexOf(m.substring(1) + 'y')", "m.lastIndexOf('y' + m.substring(1))",
        "m.split(m.substring(1) + 'y')", "lists.range(100000).map(i, m.lowerAscii())",
        "lists.range(100000).all(i, m == m + '')", "lists.range(100000).map(i, strings.quote(m))",
        "lists.range(100000).map(i, m.reverse())",
        "lists.range(9000).map(i, '%s').join().format(lists.range(9000).map(i, m))",
        "lists.range(100000).exists(i, !m.matches('^(x|x)*$'))",
        "m.findAll('x').map(c, m.findAll('x'))", "lists.range(100000).map(i, base64.encode(m))"}) {
    EXPECT_EQ(fault_of(megabyte + body + "))"), exhausted) << body;
  }
  // Patterns made at run time are dear: there are at most some thousands of them.
  EXPECT_EQ(fault_of("lists.range(50000).map(i, 'x'.matches('x+' + string(i)))"), exhausted);
  EXPECT_EQ(fault_of("lists.range(100).exists(i, 'x'.matches('\\\\pL{1000}' + string(i)))"),
            exhausted);
}

TEST(Limits, OfPatterns) {
  EXPECT_EQ(fault_of("'x'.matches('x{1000}')"), "");
  EXPECT_EQ(fault_of("'x'.matches('x{1001}')"),
            "problem: the pattern is no regular expression: invalid repetition size: {1001}");
  EXPECT_EQ(fault_of("'x'.matches('(x{1000}){1000}')"),
            "problem: the pattern is no regular expression: invalid repetition size: {1000}");
  EXPECT_EQ(fault_of("'x'.matches('\\\\pL{1000}')"),
            "problem: the pattern is too large when its repetitions are written out");
  EXPECT_EQ(fault_of("'x'.matches('" + repeated("(", 1'000) + repeated(")", 1'000) + "')"), "");
}

TEST(Limits, OfFormat) {
  EXPECT_EQ(fault_of("'%.100f'.format([1.0])"), "");
  EXPECT_EQ(fault_of("'%.101f'.format([1.0])", EvalError::Kind::general),
            "a precision in the format must be 0 to 100");
  EXPECT_EQ(fault_of("'%.1000000f'.format([1.0])", EvalError::Kind::general),
            "a precision in the format must be 0 to 100");
  EXPECT_EQ(fault_of("'%.99999999999999999999f'.format([1.0])", EvalError::Kind::general),
            "a precision in the format must be 0 to 100");
}

TEST(Limits, OfIntegers) {
  const auto general = EvalError::Kind::general;
  for (const char* text :
       {"9223372036854775807 + 1", "-9223372036854775808 - 1", "-9223372036854775808 * -1",
        "-9223372036854775808 / -1", "-(-9223372036854775808)", "4611686018427387904 * 2",
        "-9223372036854775808 % -1", "math.abs(-9223372036854775808)",
        "[9223372036854775807, 1].sum()"}) {
    EXPECT_EQ(fault_of(text, general), "integer overflow") << text;
  }
  EXPECT_EQ(fault_of("9223372036854775806 + 1"), "");
  EXPECT_EQ(fault_of("-9223372036854775807 - 1"), "");
  EXPECT_EQ(fault_of("1 / 0", general), "division by zero");
  EXPECT_EQ(fault_of("1 % 0", general), "modulus by zero");
  EXPECT_EQ(fault_of("duration('2562047h') + duration('2562047h')", general), "integer overflow");
  EXPECT_EQ(fault_of("int(1e19)", general), "the double does not fit an int");
}

}  // namespace
}  // namespace gpuctl::cel
