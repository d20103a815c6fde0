#include "yaml/emit.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "fixture.hpp"

namespace gpuctl::yaml {
namespace {

using test::Text;

std::string emitted(std::string_view text) {
  return emit(Node::view(text));
}

TEST(Emit, Style) {
  const Text text(
      "{a: 1, b: [x, {c: d, e: [1, [2, 3], []]}, {}], f: {}, g: [], h: ~, i: true, j: 1.5}\n");
  EXPECT_EQ(emit(*text.root),
            "a: 1\n"
            "b:\n"
            "- x\n"
            "- c: d\n"
            "  e:\n"
            "  - 1\n"
            "  - - 2\n"
            "    - 3\n"
            "  - []\n"
            "- {}\n"
            "f: {}\n"
            "g: []\n"
            "h: null\n"
            "i: true\n"
            "j: 1.5\n");
}

TEST(Emit, Roots) {
  Arena arena;
  EXPECT_EQ(emit(Node()), "null\n");
  EXPECT_EQ(emit(Node::boolean(false)), "false\n");
  EXPECT_EQ(emit(Node::integer(std::numeric_limits<std::int64_t>::min())),
            "-9223372036854775808\n");
  EXPECT_EQ(emit(Node::real(2)), "2.0\n");
  EXPECT_EQ(emit(arena.list({})), "[]\n");
  EXPECT_EQ(emit(arena.map({})), "{}\n");
  EXPECT_EQ(emitted("a\nb\n"), "|\n  a\n  b\n");
}

TEST(Emit, PlainWhenEveryReaderSeesTheSameText) {
  for (const std::string_view text : {"a",
                                      "a b",
                                      "v1.2.3",
                                      "4.20.1",
                                      "10.0.0.0/16",
                                      "a:b",
                                      "http://x/y?z#w",
                                      "-flag",
                                      "--flag",
                                      "a#b",
                                      "it's",
                                      "say \"x\"",
                                      "100Gi",
                                      "a,b",
                                      "a[0]",
                                      "${x}",
                                      "/dev/sda",
                                      "1.2.3.4",
                                      "é",
                                      "example.com/gpu",
                                      "tRUE",
                                      "x=y",
                                      "a - b",
                                      "\\d+",
                                      "日本"}) {
    EXPECT_EQ(emitted(text), std::string(text) + "\n");
  }
}

TEST(Emit, QuotedWhenSomeReaderWouldSeeSomethingElse) {
  for (const std::string_view text : {"",
                                      "~",
                                      "null",
                                      "Null",
                                      "NULL",
                                      "true",
                                      "True",
                                      "FALSE",
                                      "y",
                                      "Y",
                                      "n",
                                      "N",
                                      "yes",
                                      "Yes",
                                      "NO",
                                      "on",
                                      "Off",
                                      "5",
                                      "-5",
                                      "+5",
                                      "010",
                                      "0x1F",
                                      "0o17",
                                      "0b1",
                                      "1_000",
                                      "1e3",
                                      "1.5",
                                      ".5",
                                      "1.",
                                      "+1.5",
                                      ".inf",
                                      "-.INF",
                                      ".nan",
                                      "1:30",
                                      "190:20:30",
                                      "2001-01-01",
                                      "2001-01-01T00:00:00Z",
                                      "=",
                                      "<<",
                                      "- a",
                                      "-",
                                      "? a",
                                      ":a",
                                      "a: b",
                                      "a:",
                                      "a #b",
                                      "#a",
                                      "&a",
                                      "*a",
                                      "!a",
                                      "|a",
                                      ">a",
                                      "'a",
                                      "%a",
                                      "@a",
                                      "`a",
                                      "[a",
                                      "]a",
                                      "{a",
                                      "}a",
                                      ",a",
                                      " a",
                                      "a ",
                                      "---",
                                      "--- a",
                                      "...",
                                      "99999999999999999999",
                                      "1.10",
                                      "12e5",
                                      "00:11:22:33:44:55"}) {
    EXPECT_EQ(emitted(text), "\"" + std::string(text) + "\"\n");
  }
}

TEST(Emit, Escapes) {
  EXPECT_EQ(emitted("\"a"), "\"\\\"a\"\n");
  EXPECT_EQ(emitted("a\tb"), "\"a\\tb\"\n");
  EXPECT_EQ(emitted("a\\: b"), "\"a\\\\: b\"\n");
  EXPECT_EQ(emitted("\x1b[0m"), "\"\\u001b[0m\"\n");
  EXPECT_EQ(emitted("\x7f"), "\"\\u007f\"\n");
  EXPECT_EQ(emitted("a\rb"), "\"a\\rb\"\n");
  EXPECT_EQ(emitted("a\xC2\x85"), "\"a\\u0085\"\n");
  EXPECT_EQ(emitted("a\xE2\x80\xA8"), "\"a\\u2028\"\n");
  EXPECT_EQ(emitted("a\xEF\xBB\xBF"), "\"a\\ufeff\"\n");
  EXPECT_EQ(emitted("a\xE2\x80\xAE"), "\"a\\u202e\"\n");
  EXPECT_EQ(emitted("a\xC2\xA0"), "\"a\\u00a0\"\n");
  EXPECT_EQ(emitted(" é"), "\" é\"\n");
}

TEST(Emit, Blocks) {
  Arena arena;
  const auto under_key = [&](std::string_view text) {
    const Entry entry = arena.entry("k", Node::view(text));
    return emit(arena.map({&entry, 1}));
  };
  EXPECT_EQ(under_key("a\nb\n"), "k: |\n  a\n  b\n");
  EXPECT_EQ(under_key("a\nb"), "k: |-\n  a\n  b\n");
  EXPECT_EQ(under_key("a\n\n"), "k: |+\n  a\n\n");
  EXPECT_EQ(under_key("a\n\n  b\n"), "k: |\n  a\n\n    b\n");
  EXPECT_EQ(under_key("\na\n"), "k: |\n\n  a\n");
  EXPECT_EQ(under_key("# a: b\n- c\n"), "k: |\n  # a: b\n  - c\n");
  // No block: nothing to find the indentation by, or something nobody would see.
  EXPECT_EQ(under_key("\n"), "k: \"\\n\"\n");
  EXPECT_EQ(under_key(" a\nb\n"), "k: \" a\\nb\\n\"\n");
  EXPECT_EQ(under_key("\ta\nb\n"), "k: \"\\ta\\nb\\n\"\n");
  EXPECT_EQ(under_key("a\n  \nb\n"), "k: \"a\\n  \\nb\\n\"\n");
  EXPECT_EQ(under_key("a\r\nb\n"), "k: \"a\\r\\nb\\n\"\n");
  EXPECT_EQ(under_key("a\n\xE2\x80\xAE"), "k: \"a\\n\\u202e\"\n");
}

TEST(Emit, Keys) {
  Arena arena;
  const Entry entries[] = {
      arena.entry("on", Node()),   arena.entry("5", Node()),   arena.entry("a: b", Node()),
      arena.entry("a\nb", Node()), {Node::integer(7), Node()}, {Node::boolean(true), Node()},
      {Node::real(1.5), Node()},
  };
  EXPECT_EQ(emit(arena.map(entries)),
            "\"on\": null\n\"5\": null\n\"a: b\": null\n\"a\\nb\": null\n\"7\": null\n"
            "\"true\": null\n\"1.5\": null\n");
}

TEST(Emit, LongKeysAreExplicit) {
  Arena arena;
  const std::string longest(1024, 'k');
  const Node list = Node::integer(2);
  const Entry inner[] = {arena.entry(longest + "k", arena.list({&list, 1})),
                         arena.entry(longest, Node::integer(1))};
  const Node map = arena.map(inner);
  const std::string text = "- ? " + longest + "k\n  :\n  - 2\n  " + longest + ": 1\n";
  EXPECT_EQ(emit(arena.list({&map, 1})), text);
  EXPECT_EQ(emit(*Text(text).root), text);
}

TEST(Emit, AppendsToWhatIsThere) {
  std::string out = "---\n";
  emit(Node::integer(1), out);
  EXPECT_EQ(out, "---\n1\n");
}

TEST(EmitJson, Compact) {
  Arena arena;
  const Node list[] = {Node(),
                       Node::boolean(true),
                       Node::integer(-3),
                       Node::real(0.1),
                       Node::real(1e300),
                       Node::real(std::numeric_limits<double>::infinity()),
                       Node::real(std::numeric_limits<double>::quiet_NaN()),
                       Node::view("a\"\\\n\x01/é"),
                       arena.list({}),
                       arena.map({})};
  const Entry entries[] = {arena.entry("b", arena.list(list)),
                           arena.entry("a", Node()),
                           {Node::integer(7), Node::integer(8)}};
  EXPECT_EQ(
      emit_json(arena.map(entries)),
      R"({"b":[null,true,-3,0.1,1.0e+300,null,null,"a\"\\\n\u0001/é",[],{}],"a":null,"7":8})");
}

}  // namespace
}  // namespace gpuctl::yaml
