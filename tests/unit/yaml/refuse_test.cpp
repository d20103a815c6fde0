// Each thing the reader refuses, with code and position.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace gpuctl::yaml {
namespace {

using test::Text;
using testing::ElementsAre;
using testing::HasSubstr;

struct Refused {
  std::string text;
  std::vector<std::string> findings;
};

void PrintTo(const Refused& refused, std::ostream* out) {
  *out << refused.text;
}

class Refuse : public testing::TestWithParam<Refused> {};

TEST_P(Refuse, NamesCodeAndPlace) {
  const Text text(GetParam().text);
  EXPECT_FALSE(text.root);
  EXPECT_EQ(text.findings(), GetParam().findings);
}

using namespace std::string_literals;

INSTANTIATE_TEST_SUITE_P(
    Characters, Refuse,
    testing::Values(Refused{"a: x\xFFy\n", {"1:5 GPU0101 [\xFF]"}},
                    Refused{"a: \xC0\xAF\n", {"1:4 GPU0101 [\xC0]"}},
                    Refused{"a: \xED\xA0\x80\n", {"1:4 GPU0101 [\xED]"}},
                    Refused{"a: b\nc: x\0y\n"s, {"2:5 GPU0101 [\0]"s}},
                    Refused{"a: \x1b[31m\n", {"1:4 GPU0101 [\x1b]"}},
                    Refused{"a: \x7f\n", {"1:4 GPU0101 [\x7f]"}},
                    Refused{"a: x\xC2\x85y\n", {"1:5 GPU0101 [\xC2\x85]"}},
                    Refused{"a: x\ry\n", {"1:5 GPU0101 [\r]"}},
                    Refused{"a: \xE2\x80\xA8\n", {"1:4 GPU0101 [\xE2\x80\xA8]"}},
                    Refused{"a: \xEF\xBB\xBF\n", {"1:4 GPU0101 [\xEF\xBB\xBF]"}},
                    Refused{"\xFF\xFE\x61\0"s, {"1:1 GPU0101 [\xFF]"}},
                    Refused{"\0a\0:"s, {"1:1 GPU0101 [\0]"s}},
                    Refused{"a\0:\0"s, {"1:1 GPU0101 [a]"}},
                    Refused{"a: \"x\\0y\"\n", {"1:4 GPU0101 [\"x\\0y\"]"}}));

INSTANTIATE_TEST_SUITE_P(
    Structure, Refuse,
    testing::Values(
        Refused{"a: 1\nb: 2\na: 3\n\"b\": 4\n", {"3:1 GPU0104 [a]", "4:1 GPU0104 [\"b\"]"}},
        Refused{"a:\n  b:\n  - c: 1\n    c: 2\n", {"4:5 GPU0104 [c]"}},
        Refused{"{a: 1, a: 2}\n", {"1:8 GPU0104 [a]"}},
        Refused{"a: {<<: {b: 1}}\n", {"1:5 GPU0105 [<<]"}},
        Refused{"<<: 1\n", {"1:1 GPU0105 [<<]"}}, Refused{"? [a]\n: 1\n", {"1:3 GPU0106 [[a]]"}},
        Refused{"a: {{ b }}\n", {"1:5 GPU0106 [{ b }]"}}, Refused{": 1\n", {"1:2 GPU0106 []"}},
        Refused{"a\xE2\x80\x8B: 1\n", {"1:1 GPU0106 [a\xE2\x80\x8B]"}},
        Refused{"\"\xE2\x80\xAE"
                "a\": 1\n",
                {"1:1 GPU0106 [\"\xE2\x80\xAE"
                 "a\"]"}},
        Refused{"\"\\u202Ea\": 1\n", {"1:1 GPU0106 [\"\\u202Ea\"]"}},
        Refused{"a: !!int 5\n", {"1:4 GPU0107 [!!int]"}}, Refused{"a: ! 5\n", {"1:4 GPU0107 [!]"}},
        Refused{"a: !foo \"5\"\n", {"1:4 GPU0107 [!foo]"}},
        Refused{"a: &x !foo {b: 1}\n", {"1:7 GPU0107 [!foo]"}},
        Refused{"a: !!map\n  b: 1\n", {"1:4 GPU0107 [!!map]"}},
        Refused{"%TAG !! tag:example.com,2000:\n---\na: !!str b\n",
                {"1:1 GPU0102 [%TAG !! tag:example.com,2000:]", "3:4 GPU0107 [!!str]"}},
        Refused{"!!str\n", {"1:1 GPU0107 [!!str]"}}, Refused{"&a !!str\n", {"1:4 GPU0107 [!!str]"}},
        Refused{"a: &x 1\nb: *x\n", {"2:4 GPU0108 [*x]"}},
        Refused{"a: &x [*x]\n", {"1:8 GPU0108 [*x]"}},
        Refused{"a: &x 1\nb: &x 2\n", {"2:4 GPU0108 [&x]"}},
        Refused{"a: 1\n---\nb: 2\n", {"2:1 GPU0111 [---]"}},
        Refused{"a: 1\n...\nb: 2\n", {"3:1 GPU0111 [b:]"}},
        Refused{"a: 1\n---\n", {"2:1 GPU0111 [---]"}}));

INSTANTIATE_TEST_SUITE_P(
    Scalars, Refuse,
    testing::Values(Refused{"a: yes\n", {"1:4 GPU0109 [yes]"}},
                    Refused{"- Off\n- 010\n- 1:30\n",
                            {"1:3 GPU0109 [Off]", "2:3 GPU0109 [010]", "3:3 GPU0109 [1:30]"}},
                    Refused{"a: 9223372036854775808\n", {"1:4 GPU0110 [9223372036854775808]"}},
                    Refused{"a: -9223372036854775809\n", {"1:4 GPU0110 [-9223372036854775809]"}}));

INSTANTIATE_TEST_SUITE_P(
    Syntax, Refuse,
    testing::Values(
        Refused{"a: \"x\n", {"1:4 GPU0103 [\"]"}}, Refused{"a: 'x\n", {"1:4 GPU0103 [']"}},
        Refused{"a: \"x", {"1:4 GPU0103 [\"]"}}, Refused{"- it's\n- 'abc", {"2:3 GPU0103 [']"}},
        Refused{"a: b: c\n", {"1:5 GPU0102 [:]"}}, Refused{"a: @x\n", {"1:4 GPU0102 [@]"}},
        Refused{"a: [b\nc: d\n", {"2:1 GPU0102 [c]"}}, Refused{"a: [b,\n", {"1:7 GPU0102 []"}},
        Refused{"a:\n  b: 1\n c: 2\n", {"3:2 GPU0102 [c]"}},
        Refused{"a:\n\tb: 1\n", {"2:1 GPU0102 [\t]"}}, Refused{"a: \"b\" c\n", {"1:8 GPU0102 [c]"}},
        Refused{
            "- a\nb: c\n",
            {"2:1 GPU0102 [b: c]"}},  // A line without a colon would become a key without a value.
        Refused{"a: 1\nb\nc: 2\n", {"3:2 GPU0102 [:]"}}, Refused{"a: 1\nb\n", {"2:1 GPU0102 [b]"}},
        Refused{"? a\n", {"1:3 GPU0102 [a]"}}, Refused{"%FOO\n---\na: 1\n", {"1:1 GPU0102 [%FOO]"}},
        Refused{"%a: 1\n", {"1:1 GPU0102 [%a: 1]"}},
        Refused{"a: 1\n...\n%b: 1\n", {"3:1 GPU0102 [%b: 1]"}},
        Refused{"a:\n\t1\n", {"2:1 GPU0102 [\t]"}}, Refused{"a:\n \t- 1\n", {"2:2 GPU0102 [\t]"}},
        Refused{"a: \" \n\n\"\n", {"1:4 GPU0102 [\"]"}}, Refused{"a: *x\n", {"1:4 GPU0102 [*]"}},
        Refused{"a: \"\\q\"\n", {"1:7 GPU0102 [\"]"}}));

TEST(RefuseDuplicateKey, ShowsTheFirstDefinition) {
  const Text text("a: 1\nb: 2\na: 3\n");
  const diag::Diagnostic& diagnostic = text.sink.all().front();
  EXPECT_EQ(diagnostic.message, "key `a` is given twice");
  ASSERT_EQ(diagnostic.secondary.size(), 1U);
  EXPECT_EQ(diagnostic.secondary[0].text, "first defined here");
  EXPECT_EQ(text.place(diagnostic.secondary[0].at), "1:1");
}

TEST(RefuseDuplicateKey, FindsItInLargeMappings) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "k" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(Text(text + "k7: 2\n").findings(), ElementsAre("101:1 GPU0104 [k7]"));
}

class Expression : public testing::TestWithParam<std::string> {};

TEST_P(Expression, IsToBeQuoted) {
  const Text text(GetParam());
  ASSERT_EQ(text.sink.all().size(), 1U);
  EXPECT_EQ(text.sink.all().front().code, "GPU0102");
  ASSERT_FALSE(text.sink.all().front().help.empty());
  EXPECT_THAT(text.sink.all().front().help.back(), HasSubstr("quote the expression"));
}

INSTANTIATE_TEST_SUITE_P(Syntax, Expression,
                         testing::Values("x: ${a ? b : c}\n", "x: [${a}]\n", "x: {y: ${a}}\n",
                                         "x: ${f(\"a: b\")}\n", "x: \"${a}\" + b\n",
                                         "x: ${ {a: b} }\n"));

TEST(Expression, OtherErrorsDoNotMentionIt) {
  const Text text("y: ${a}\nx: b: c\n");
  ASSERT_EQ(text.sink.all().size(), 1U);
  EXPECT_THAT(text.sink.all().front().help.back(), testing::Not(HasSubstr("expression")));
}

TEST(RefuseSyntax, ShowsTheOpenBracket) {
  const Text text("a: {b: [c, d}\n");
  ASSERT_FALSE(text.sink.all().empty());
  ASSERT_EQ(text.sink.all().front().secondary.size(), 1U);
  EXPECT_EQ(text.place(text.sink.all().front().secondary[0].at), "1:8");
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + "1" + std::string(depth, ']') + "\n";
}

TEST(Limits, Depth) {
  EXPECT_TRUE(Text(nested(64)).root);
  const Text text(nested(65));
  EXPECT_THAT(text.findings(), ElementsAre("1:65 GPU0112 [[]"));
  EXPECT_EQ(text.sink.all().front().expected, "at most 64 levels");
  EXPECT_FALSE(Text(nested(100'000)).root);
  // Block nesting counts as well.
  std::string dashes;
  for (int i = 0; i < 65; ++i) dashes += "- ";
  EXPECT_THAT(Text(dashes + "x\n").findings(), ElementsAre("1:129 GPU0112 [-]"));
}

TEST(Limits, Bytes) {
  ReadLimits limits;
  limits.bytes = 5;
  EXPECT_TRUE(Text("a: 1\n", limits).root);
  EXPECT_THAT(Text("a: 12\n", limits).findings(), ElementsAre("1:1 GPU0112 []"));
}

TEST(Limits, Nodes) {
  ReadLimits limits;
  limits.nodes = 4;  // the list and three items
  EXPECT_TRUE(Text("[a, b, c]\n", limits).root);
  EXPECT_THAT(Text("[a, b, c, d]\n", limits).findings(), ElementsAre("1:11 GPU0112 [d]"));
}

TEST(Limits, ScalarBytes) {
  ReadLimits limits;
  limits.scalar_bytes = 3;
  EXPECT_TRUE(Text("a: abc\n", limits).root);
  EXPECT_THAT(Text("a: abcd\n", limits).findings(), ElementsAre("1:4 GPU0112 []"));
}

TEST(Limits, AliasesCountWhatTheyStandFor) {
  // Ten levels of ten aliases: 10^10 nodes when written out.
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i <= 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  const Text text(bomb, published_limits());
  EXPECT_FALSE(text.root);
  EXPECT_EQ(text.sink.all().front().code, "GPU0112");
  EXPECT_EQ(text.sink.all().front().expected, "at most 2000000 values");
}

TEST(Limits, AliasesCountTheirDepth) {
  ReadLimits limits;
  limits.aliases = 10;
  limits.depth = 6;
  EXPECT_TRUE(Text("a: &a [[1]]\nb: [[*a]]\n", limits).root);
  EXPECT_FALSE(Text("a: &a [[[[[1]]]]]\nb: [[*a]]\n", limits).root);
}

TEST(Limits, AliasUses) {
  ReadLimits limits;
  limits.aliases = 1;
  EXPECT_TRUE(Text("a: &a 1\nb: *a\n", limits).root);
  EXPECT_THAT(Text("a: &a 1\nb: *a\nc: *a\n", limits).findings(), ElementsAre("3:4 GPU0112 [*a]"));
}

TEST(Limits, ErrorsOfOneFileEndSomewhere) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "- yes\n";
  EXPECT_EQ(Text(text).sink.all().size(), 50U);
}

}  // namespace
}  // namespace gpuctl::yaml
