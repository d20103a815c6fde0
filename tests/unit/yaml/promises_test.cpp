// The promises about input, one test a row: duplicate keys, merge keys, tags, documents, anchors
// and aliases, depth, booleans, integers, null, quotes, bytes, size, positions, exceptions. What
// the emitter promises about text is in roundtrip_test.cpp and tests/interop/scalars.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace gpuctl::yaml {
namespace {

using namespace std::string_literals;
using test::Text;
using testing::ElementsAre;
using testing::HasSubstr;

struct Case {
  std::string text;      // %s stands for the offence
  std::string expected;  // first finding
};

// The same offence at the top, in the middle of a document and deep down.
const std::string kTop = "%s";
const std::string kMiddle = "a: 1\nb:\n  c: x\n  d:\n    %s\ne: [1]\n";
const std::string kDeep = "- - - - - - - - - - - - - - - -\n                                 %s\n";

std::string placed(std::string where, std::string_view what) {
  return where.replace(where.find("%s"), 2, what);
}

// "line:column" of the offence in the text made by placed().
std::string place(const std::string& where, std::size_t behind) {
  const std::size_t at = where.find("%s");
  const std::size_t line = static_cast<std::size_t>(
      std::count(where.begin(), where.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  const std::size_t start = line == 0 ? 0 : where.rfind('\n', at) + 1;
  return std::to_string(line + 1) + ":" + std::to_string(at - start + behind + 1);
}

struct Offence {
  std::string text;
  std::size_t behind;  // bytes of it in front of the place that is shown
  std::string code;
};

class Everywhere : public testing::TestWithParam<Offence> {};

TEST_P(Everywhere, IsRefusedWithItsPlace) {
  for (const std::string& where : {kTop, kMiddle, kDeep}) {
    const Text text(placed(where, GetParam().text));
    ASSERT_FALSE(text.root) << placed(where, GetParam().text);
    EXPECT_THAT(text.findings().front(),
                testing::StartsWith(place(where, GetParam().behind) + " " + GetParam().code))
        << placed(where, GetParam().text);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Y2, Everywhere,
    testing::Values(Offence{"{k: 1, k: 2}", 7, "GPU0104"}, Offence{"{<<: {k: 1}}", 1, "GPU0105"},
                    Offence{"!foo x", 0, "GPU0107"}, Offence{"!!int 5", 0, "GPU0107"},
                    Offence{"!!binary aGk=", 0, "GPU0107"}, Offence{"! x", 0, "GPU0107"},
                    Offence{"!<tag:yaml.org,2002:int> 5", 0, "GPU0107"},
                    Offence{"[&x 1, &x 2]", 7, "GPU0108"}, Offence{"[&x 1, *x]", 7, "GPU0108"},
                    Offence{"&x [*x]", 4, "GPU0108"}, Offence{"&x {k: *x}", 7, "GPU0108"},
                    Offence{"[*x]", 1, "GPU0102"}, Offence{"{? [a] : b}", 3, "GPU0106"},
                    Offence{"[!!str :a]", 7, "GPU0102"}));

INSTANTIATE_TEST_SUITE_P(
    Y5, Everywhere,
    testing::Values(
        Offence{"010", 0, "GPU0109"}, Offence{"0x1f", 0, "GPU0109"}, Offence{"+5", 0, "GPU0109"},
        Offence{"1_000", 0, "GPU0109"}, Offence{"0o17", 0, "GPU0109"}, Offence{"0b1", 0, "GPU0109"},
        Offence{"1e3", 0, "GPU0109"}, Offence{"1:30", 0, "GPU0109"}, Offence{"yes", 0, "GPU0109"},
        Offence{"No", 0, "GPU0109"}, Offence{"on", 0, "GPU0109"}, Offence{"OFF", 0, "GPU0109"},
        Offence{"y", 0, "GPU0109"}, Offence{"2001-01-01", 0, "GPU0109"}, Offence{"=", 0, "GPU0109"},
        Offence{"<<", 0, "GPU0109"}, Offence{"99999999999999999999", 0, "GPU0110"}));

INSTANTIATE_TEST_SUITE_P(Y4, Everywhere,
                         testing::Values(Offence{"\"\\0\"", 0, "GPU0101"},
                                         Offence{"{\"a\xE2\x80\xAE\": 1}", 1, "GPU0106"},
                                         Offence{"{a\xE2\x80\x8B: 1}", 1, "GPU0106"},
                                         Offence{"{\"\\u2066\": 1}", 1, "GPU0106"}));

struct Value {
  std::string text;
  Kind kind;
};

class Plain : public testing::TestWithParam<Value> {};

TEST_P(Plain, HasThisKind) {
  const Text text("a: " + GetParam().text + "\n");
  ASSERT_TRUE(text.root) << text.sink.all().front().message;
  EXPECT_EQ(kind_name(text.root->get("a").kind()), kind_name(GetParam().kind));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Plain,
    testing::Values(Value{"true", Kind::boolean}, Value{"False", Kind::boolean},
                    Value{"\"true\"", Kind::string}, Value{"tRUE", Kind::string},
                    Value{"5", Kind::integer}, Value{"-5", Kind::integer},
                    Value{"-0", Kind::integer}, Value{"9223372036854775807", Kind::integer},
                    Value{"1.0", Kind::real}, Value{".nan", Kind::real}, Value{".inf", Kind::real},
                    Value{"\"010\"", Kind::string}, Value{"0x", Kind::string},
                    Value{"~", Kind::null}, Value{"", Kind::null}, Value{"null", Kind::null},
                    Value{"Null", Kind::null}, Value{"NULL", Kind::null},
                    Value{"nULL", Kind::string}, Value{"\"\"", Kind::string},
                    Value{"!!str", Kind::string}, Value{"!!str 5", Kind::string}));

// Duplicate keys: both places are shown, however the keys are spelled.
TEST(Promises, DuplicateKeysShowBothPlaces) {
  const Text text("\"a\": 1\n'b': 1\na: 2\n");
  ASSERT_THAT(text.findings(), ElementsAre("3:1 GPU0104 [a]"));
  EXPECT_EQ(text.place(text.sink.all().front().secondary.front().at), "1:1");
  EXPECT_FALSE(Text("1: a\n\"1\": b\n").root);  // keys are strings
  EXPECT_FALSE(Text("a: 1\n\"\\x61\": 2\n").root);
}

TEST(Promises, OneDocument) {
  for (const std::string& text : {"a: 1\n---\nb: 2\n"s, "a: 1\n...\nb: 2\n"s, "a: 1\n...\n---\n"s,
                                  "---\n---\n"s, "--- 1\n--- 2\n"s, "a\n...\nb\n"s}) {
    const Text read(text);
    ASSERT_FALSE(read.root) << text;
    EXPECT_EQ(read.sink.all().front().code, "GPU0111") << text;
  }
  EXPECT_THAT(Text("a: 1\n... b\n").findings(), Contains(testing::StartsWith("2:5 GPU01")));
}

TEST(Promises, Anchors) {
  std::string anchors;
  for (int i = 0; i < 256; ++i) anchors += "- &a" + std::to_string(i) + " x\n";
  EXPECT_TRUE(Text(anchors).root);
  EXPECT_THAT(Text(anchors + "- &more x\n").findings(), ElementsAre("257:3 GPU0112 [&more]"));
  // Readers disagree on what belongs to the name.
  for (const std::string name : {"a:b", "a.b", "é", "a\"b", "a!b"}) {
    EXPECT_FALSE(Text("a: &" + name + " x\n").root) << name;
  }
}

// 10^10 values written as ten lines, and a value that contains itself, with aliases allowed.
TEST(Promises, AliasesCannotExplode) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int j = 1; j < 10; ++j) bomb += ", " + alias;
    bomb += "]\n";
  }
  const Text text(bomb, published_limits());
  EXPECT_FALSE(text.root);
  EXPECT_EQ(text.sink.all().front().code, "GPU0112");
  for (const std::string& self :
       {"&a [*a]\n"s, "&a {b: *a}\n"s, "- &a\n  - b\n  - c: [*a]\n"s, "&a\nb: &c\n  d: *a\n"s}) {
    const Text read(self, published_limits());
    ASSERT_FALSE(read.root) << self;
    EXPECT_EQ(read.sink.all().front().code, "GPU0108") << self;
    EXPECT_THAT(read.sink.all().front().message, HasSubstr("contains it"));
  }
}

TEST(Promises, Depth) {
  const auto nested = [](std::size_t depth, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += "1";
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text + "\n";
  };
  for (const auto& [open, close] : {std::pair("[", "]"), {"{a: ", "}"}, {"- ", ""}}) {
    EXPECT_TRUE(Text(nested(64, open, close)).root) << open;
    const Text text(nested(65, open, close));
    ASSERT_FALSE(text.root) << open;
    EXPECT_EQ(text.sink.all().front().message, "the file is nested too deeply");
    EXPECT_EQ(text.sink.all().front().expected, "at most 64 levels");
    EXPECT_FALSE(Text(nested(100'000, open, close)).root);
    EXPECT_FALSE(Text(nested(100'000, open, "")).root);
  }
}

TEST(Promises, QuotesAreClosed) {
  for (const std::string& text :
       {"a: \"x\n"s, "a: \"x"s, "a: 'x\n"s, "a: 'x"s, "a: 'x''"s, "a: \"x\\\""s, "\"a"s, "- '"s,
        "a: [\"x]\n"s, "a: {b: \"x}\n"s, "a: \"x\n  y\n\n"s, "a: \"x\n---\nb: 1\n"s}) {
    const Text read(text);
    ASSERT_FALSE(read.root) << text;
    const std::size_t quote = text.find_first_of("\"'");
    EXPECT_EQ(read.place(read.sink.all().front().primary.at), "1:" + std::to_string(quote + 1))
        << text << read.sink.all().front().message;
    EXPECT_EQ(read.sink.all().front().code, "GPU0103") << text;
  }
}

// A quote that ends at the next text's quote is shown where it opens.
TEST(Promises, QuotesAreClosedWhereTheyShould) {
  for (const std::string& text :
       {"a: \"x\nb: \"y\"\n"s, "a: {b: \"x}\nc: {d: \"y\"}\n"s, "a: {b: \"x}\n  c: {d: \"y\"}\n"s,
        "- \"x\n- \"y\"\n"s, "a: 'x\n  b: 'y'\n"s, "a: [\"x, y]\nb: [\"z\"]\n"s}) {
    const Text read(text);
    ASSERT_FALSE(read.root) << text;
    EXPECT_EQ(read.findings().front(), "1:" + std::to_string(text.find_first_of("\"'") + 1) +
                                           " GPU0103 [" + text[text.find_first_of("\"'")] + "]");
  }
}

TEST(Promises, MergeConflicts) {
  for (const auto& [text, at] :
       {std::pair("a:\n<<<<<<< HEAD\n  b: 1\n=======\n  b: 2\n>>>>>>> x\n", "2:1"),
        {"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "1:1"},
        {"a: |\n  x\n<<<<<<< HEAD\n  y\n=======\n  z\n>>>>>>> x\n", "3:1"},
        {"<<<<<<< HEAD\r\na: 1\r\n=======\r\n>>>>>>> x\r\n", "1:1"},
        {"a: 1\n=======\nb: 2\n", "2:1"},
        {"a: 1\n>>>>>>> other\nb: 2\n", "2:1"},
        {"a: 1\n>>>>>>> other\n", "2:1"}}) {
    const Text read(text);
    ASSERT_FALSE(read.root) << text;
    EXPECT_EQ(read.place(read.sink.all().front().primary.at), at) << text;
    EXPECT_EQ(read.sink.all().front().code, "GPU0102");
    EXPECT_EQ(read.sink.all().front().message, "a merge conflict is not resolved");
    EXPECT_EQ(read.sink.all().front().help.size(), 1U);
  }
  EXPECT_TRUE(Text("a: |\n  <<<<<<< HEAD\n  =======\n  >>>>>>> x\n").root);
  EXPECT_TRUE(Text("- ======\n- <<<<<<\n").root);
}

// Sizes that take a quadratic reader minutes.
TEST(Promises, LargeInputIsLinear) {
  ReadLimits limits;
  limits.bytes = limits.scalar_bytes = 64 * 1024 * 1024;
  limits.nodes = 10'000'000;
  const std::string scalar(8 * 1024 * 1024, 'x');
  const Text one("a: \"" + scalar + "\"\n", limits);
  ASSERT_TRUE(one.root);
  EXPECT_EQ(one.root->get("a").as_string(), scalar);
  std::string keys;
  std::string flow = "[";
  for (int i = 0; i < 100'000; ++i) {
    keys += "key" + std::to_string(i) + ": \"v\\t\"\n";
    flow += "{a: 'x'}, ";
  }
  const Text many(keys, limits);
  ASSERT_TRUE(many.root);
  EXPECT_EQ(many.root->size(), 100'000U);
  EXPECT_EQ(many.root->get("key99999").as_string(), "v\t");
  EXPECT_TRUE(Text(flow + "]\n", limits).root);  // on one line
  EXPECT_TRUE(Text("a: |\n" + std::string(1'000'000, '\n') + "  x\n", limits).root);
}

TEST(Promises, SizeIsBounded) {
  EXPECT_THAT(Text("a: \"" + std::string(64 * 1024 * 1024, 'x') + "\"\n").findings(),
              ElementsAre("1:1 GPU0112 []"));
  EXPECT_THAT(Text("a: \"" + std::string(300 * 1024, 'x') + "\"\n").findings(),
              ElementsAre("1:4 GPU0112 []"));
}

// Carriage returns and tabs where they are allowed and where not.
TEST(Promises, LinesAndTabs) {
  EXPECT_EQ(Text("a: 1\r\nb:\r\n- |\r\n  x\r\n  y\r\n- \"p\r\n  q\"\r\n").json(),
            R"({"a":1,"b":["x\ny\n","p q"]})");
  EXPECT_EQ(Text("a:\t1\t# x\nb: [\t1,\t2 ]\n").json(), R"({"a":1,"b":[1,2]})");
  for (const std::string& text : {"a:\n\tb: 1\n"s, "\ta: 1\n"s, "a:\n  - b\n\t- c\n"s,
                                  "a: [\n\tb]\n"s, "a: \"x\n\ty\"\n"s, "a:\n  b: |\n\tx\n"s}) {
    const Text read(text);
    ASSERT_FALSE(read.root) << text;
    EXPECT_EQ(read.sources.text(read.sink.all().front().primary.at).front(), '\t')
        << text << read.findings().front();
  }
}

// Positions count from one, in characters, behind a byte order mark and in CR LF files too.
TEST(Promises, Positions) {
  EXPECT_THAT(Text("yes\n").findings(), ElementsAre("1:1 GPU0109 [yes]"));
  EXPECT_THAT(Text("é: {ü: yes}\n").findings(), ElementsAre("1:8 GPU0109 [yes]"));
  EXPECT_THAT(Text("\xEF\xBB\xBFyes\n").findings(), ElementsAre("1:1 GPU0109 [yes]"));
  EXPECT_THAT(Text("a: 1\r\nb: no\r\n").findings(), ElementsAre("2:4 GPU0109 [no]"));
}

// Whatever the parser throws ends as a diagnostic of ours.
TEST(Promises, NoExceptionEscapes) {
  const std::string pieces[] = {"{",  "[",  "}",   "]",   ":",   "- ",  "? ",    "&",  "*",  "!",
                                "|",  ">",  "%",   "@",   "`",   "\"",  "'",     ",",  "#",  "\n",
                                "\t", "  ", "---", "...", "\\x", "\\u", "%YAML", "a:", "<<", "!<"};
  for (const std::string& a : pieces) {
    for (const std::string& b : pieces) {
      for (const std::string& c : pieces) {
        EXPECT_NO_THROW({
          const Text text(a + b + c);
          EXPECT_NE(text.root.has_value(), text.sink.has_errors()) << a + b + c;
        }) << a + b + c;
      }
    }
  }
}

}  // namespace
}  // namespace gpuctl::yaml
