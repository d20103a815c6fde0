#include "yaml/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "fixture.hpp"

namespace gpuctl::yaml {
namespace {

using test::Text;

struct Accepted {
  std::string text;
  std::string json;
};

class Accept : public testing::TestWithParam<Accepted> {};

TEST_P(Accept, GivesTheValue) {
  const Text text(GetParam().text);
  EXPECT_THAT(text.findings(), testing::IsEmpty());
  EXPECT_EQ(text.json(), GetParam().json);
}

INSTANTIATE_TEST_SUITE_P(
    Read, Accept,
    testing::Values(
        Accepted{"", "null"}, Accepted{"# only a comment\n", "null"}, Accepted{"---\n", "null"},
        Accepted{"a: 1\nb: [x, 2.5, true]\n", R"({"a":1,"b":["x",2.5,true]})"},
        Accepted{"a:\nnullable: 1\nb:\n~x: 2\n", R"({"a":null,"nullable":1,"b":null,"~x":2})"},
        Accepted{"a: 1\n...\n...\n", R"({"a":1})"}, Accepted{"...\n", "null"},
        Accepted{"a:\nb:\n  - c\n  -\n", R"({"a":null,"b":["c",null]})"},
        Accepted{"a:\n- b\n- - c\n  - d\n", R"({"a":["b",["c","d"]]})"}, Accepted{"{}\n", "{}"},
        Accepted{"[]\n", "[]"}, Accepted{"text\n", R"("text")"},
        Accepted{"a: 1\n...\n# end\n", R"({"a":1})"},
        Accepted{"%YAML 1.2\n---\na: 1\n", R"({"a":1})"},
        Accepted{"a: |\n  one\n   two\n\nb: >-\n  x\n  y\n", R"({"a":"one\n two\n","b":"x y"})"},
        Accepted{"a: >+\n  x\n\n\nb: >+\n  x\n  y\n", R"({"a":"x\n\n\n","b":"x y\n"})"},
        Accepted{"{!!str : a, b : !!str}\n", R"({"":"a","b":""})"},
        // A byte order mark at the start, and CR LF.
        Accepted{"\xEF\xBB\xBF"
                 "a: 1\r\nb: |\r\n  x\r\n  y\r\n",
                 R"({"a":1,"b":"x\ny\n"})"},
        // Keys are strings, whatever they look like.
        Accepted{"on: 1\ny: 2\n5: 3\ntrue: 4\n010: 5\nnull: 6\n~: 7\n1.5: 8\n",
                 R"({"on":1,"y":2,"5":3,"true":4,"010":5,"null":6,"~":7,"1.5":8})"},
        Accepted{"\"<<\": 1\n", R"({"<<":1})"},
        // Quoted is text; `!!str` makes text.
        Accepted{"a: \"yes\"\nb: '010'\nc: \"null\"\nd: \"\"\n",
                 R"({"a":"yes","b":"010","c":"null","d":""})"},
        Accepted{"a: !!str 5\nb: !!str\nc: !!str yes\n!!str d: 1\n",
                 R"({"a":"5","b":"","c":"yes","d":1})"},
        Accepted{"a: ${x}\nb: a-${x}-b\n", R"({"a":"${x}","b":"a-${x}-b"})"},
        Accepted{"a: [b: 1, c]\n", R"({"a":[{"b":1},"c"]})"},
        Accepted{"? a\n: 1\n? b\n:\n", R"({"a":1,"b":null})"},
        Accepted{"{a, b: }\n", R"({"a":null,"b":null})"},
        Accepted{"a: >\n  x\n  y\n  ", R"({"a":"x y\n"})"}, Accepted{"a: |\n  x", R"({"a":"x"})"},
        // An anchor that nobody uses does no harm.
        Accepted{"a: &x 1\n", R"({"a":1})"},
        Accepted{"a: \"\\u00e9\\x41\\U0001F600\\t\\\n  b\"\n", "{\"a\":\"éA😀\\tb\"}"}));

TEST(Read, KeepsTheOrderOfKeys) {
  std::string text;
  std::string expected = "{";
  for (int i = 40; i > 0; --i) {
    text += "k" + std::to_string(i) + ": " + std::to_string(i) + "\n";
    expected += (i == 40 ? "\"k" : ",\"k") + std::to_string(i) + "\":" + std::to_string(i);
  }
  EXPECT_EQ(Text(text).json(), expected + "}");
}

TEST(Read, SpansCoverScalars) {
  const Text text(
      "é: plain text # comment\n"
      "\"k 2\": \"a\\\"b\"\n"
      "single: 'it''s'\n"
      "multi: one\n"
      "  two\n"
      "\n"
      "  three # no\n"
      "literal: |-  # comment\n"
      "  x\n"
      "  y\n"
      "\n"
      "flow: [12, {k: v}]\n"
      "tagged: &a !!str 5\n"
      "absent:\n"
      "word: ~\n");
  ASSERT_TRUE(text.root) << text.sink.all().front().message;
  const Node& root = *text.root;
  EXPECT_EQ(text.text(root.get("é")), "plain text");
  EXPECT_EQ(text.text(root.find_entry("é")->key), "é");
  EXPECT_EQ(text.text(root.get("k 2")), "\"a\\\"b\"");
  EXPECT_EQ(text.text(root.find_entry("k 2")->key), "\"k 2\"");
  EXPECT_EQ(text.text(root.get("single")), "'it''s'");
  EXPECT_EQ(text.text(root.get("multi")), "one\n  two\n\n  three");
  EXPECT_EQ(text.text(root.get("literal")), "|-  # comment\n  x\n  y");
  EXPECT_EQ(text.text(root.get("flow")), "[12, {k: v}]");
  EXPECT_EQ(text.text(root.get("flow").items()[0]), "12");
  EXPECT_EQ(text.text(root.get("flow").items()[1]), "{k: v}");
  EXPECT_EQ(text.text(root.get("tagged")), "5");
  EXPECT_EQ(text.text(root.get("absent")), "");
  EXPECT_EQ(text.place(root.get("absent").origin()), "14:8");
  EXPECT_EQ(text.text(root.get("word")), "~");
  EXPECT_EQ(text.text(root), "é: plain text");
}

TEST(Read, SpansCoverTheFirstLineOfBlockCollections) {
  const Text text(
      "spec:\n  pools:\n  - name: a\n    size: 3\n  - - x\n    - w\n  - k:\n      z: 1\n");
  ASSERT_TRUE(text.root);
  const Node pools = text.root->get({"spec", "pools"});
  EXPECT_EQ(text.text(text.root->get("spec")), "pools");
  EXPECT_EQ(text.text(pools), "- name: a");
  EXPECT_EQ(text.text(pools.items()[0]), "name: a");
  EXPECT_EQ(text.text(pools.items()[1]), "- x");
  EXPECT_EQ(text.text(pools.items()[2]), "k");
  EXPECT_EQ(text.place(pools.items()[2].origin()), "7:5");
}

TEST(Read, PositionsHoldBehindByteOrderMarkAndCrLf) {
  const Text text(
      "\xEF\xBB\xBF"
      "a: \"ü\"\r\nb: [é, x]\r\n");
  ASSERT_TRUE(text.root);
  EXPECT_EQ(text.text(text.root->get("a")), "\"ü\"");
  EXPECT_EQ(text.text(text.root->get("b").items()[1]), "x");
  EXPECT_EQ(text.place(text.root->get("b").items()[1].origin()), "2:8");
}

TEST(Read, AliasesWithinTheLimitAreTheAnchoredValue) {
  ReadLimits limits;
  limits.aliases = 2;
  const Text text("a: &x {k: [1]}\nb: *x\nc: [*x]\n", limits);
  EXPECT_EQ(text.json(), R"({"a":{"k":[1]},"b":{"k":[1]},"c":[{"k":[1]}]})");
  EXPECT_EQ(text.text(text.root->get("b")), "*x");
}

TEST(ReadAll, GivesEveryDocument) {
  diag::Sources sources;
  Arena arena;
  diag::Sink sink;
  const auto file = sources.add_file("stream.yaml", "a: 1\n---\n- b\n...\n---\nc\n");
  const auto documents = read_all(file, sources, arena, sink);
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 3U);
  EXPECT_EQ(emit_json((*documents)[0]), R"({"a":1})");
  EXPECT_EQ(emit_json((*documents)[1]), R"(["b"])");
  EXPECT_EQ(emit_json((*documents)[2]), R"("c")");
}

TEST(ReadAll, RefusesAStreamWithOneBadDocument) {
  diag::Sources sources;
  Arena arena;
  diag::Sink sink;
  const auto file = sources.add_file("stream.yaml", "a: 1\n---\nb: 1\nb: 2\n");
  EXPECT_FALSE(read_all(file, sources, arena, sink));
  ASSERT_EQ(sink.all().size(), 1U);
  EXPECT_EQ(sink.all().front().code, "GPU0104");
}

TEST(Published, AmbiguousScalarsAreStringsOrNumbers) {
  const Text text("a: [yes, 010, 0x1F, 1_000, 1:30, 2001-01-01, '5', 1e3, 18446744073709551615]\n",
                  published_limits());
  EXPECT_EQ(text.json(), R"({"a":["yes","010","0x1F","1_000","1:30","2001-01-01","5",1000.0,)"
                         R"(18446744073709551616.0]})");
}

TEST(Published, AmbiguousScalarsAreWhatKubectlTakesThemForWhenAsked) {
  ReadLimits limits = published_limits();
  limits.kubectl_scalars = true;
  const Text text("a: [yes, Off, 010, 0o17, 0x1F, -0b11, +5, 1_000, 1:30, 2001-01-01, '5', 1e3]\n",
                  limits);
  EXPECT_EQ(text.json(), R"({"a":[true,false,8,15,31,-3,5,1000,"1:30","2001-01-01","5",1000.0]})");
  const Text large("[18446744073709551615, 0xFFFFFFFFFFFFFFFFF, 09]\n", limits);
  EXPECT_EQ(large.json(), R"([18446744073709551616.0,"0xFFFFFFFFFFFFFFFFF","09"])");
}

}  // namespace
}  // namespace gpuctl::yaml
