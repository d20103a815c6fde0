// scalar_offsets: where each byte of a value stands in the file.
#include <gtest/gtest.h>

#include <random>

#include "fixture.hpp"

namespace gpuctl::yaml {
namespace {

using test::Text;

// The text with every byte of the value replaced by what stands at its offset: equal to the value
// where no escape or line break is involved.
std::string spelled(const Text& text, const Node& node) {
  std::string out;
  const auto offsets = scalar_offsets(text.sources, node);
  const std::string_view all = text.sources.file_text(text.file);
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) out += all[offsets[i]];
  return out;
}

std::size_t end_offset(const Text& text, const Node& node) {
  const auto offsets = scalar_offsets(text.sources, node);
  return offsets.empty() ? 0 : offsets.back();
}

TEST(ScalarOffsets, Plain) {
  const Text text("k: é ${a} x # c\n");
  const Node node = text.root->get("k");
  EXPECT_EQ(spelled(text, node), "é ${a} x");
  EXPECT_EQ(scalar_offsets(text.sources, node).front(), 3U);
  EXPECT_EQ(end_offset(text, node), 12U);
}

TEST(ScalarOffsets, PlainOverSeveralLines) {
  const Text text("k: one  \n  two\n\n\n  three\n");
  const Node node = text.root->get("k");
  ASSERT_EQ(node.as_string(), "one two\n\nthree");
  EXPECT_EQ(spelled(text, node), "one\ntwo\n\nthree");  // a folded break stands for the space
  const auto offsets = scalar_offsets(text.sources, node);
  EXPECT_EQ(offsets[4], 11U);  // t of two
  EXPECT_EQ(offsets[9], 19U);  // t of three
}

TEST(ScalarOffsets, SingleQuoted) {
  const Text text("k: 'it''s ${a}\n   b'\n");
  const Node node = text.root->get("k");
  ASSERT_EQ(node.as_string(), "it's ${a} b");
  EXPECT_EQ(spelled(text, node), "it's ${a}\nb");
  EXPECT_EQ(end_offset(text, node), 19U);
}

TEST(ScalarOffsets, DoubleQuoted) {
  const std::string source = R"(k: "a\tb\x41\u00e9\U0001F600\"${x}\)"
                             "\n   c\n\n  d\"\n";
  const Text text(source);
  const Node node = text.root->get("k");
  ASSERT_EQ(node.as_string(), "a\tbAé😀\"${x}c\nd");
  const auto offsets = scalar_offsets(text.sources, node);
  ASSERT_EQ(offsets.size(), node.size() + 1);
  EXPECT_EQ(offsets[0], source.find('a'));
  EXPECT_EQ(offsets[1], source.find("\\t"));
  EXPECT_EQ(offsets[3], source.find("\\x41"));
  EXPECT_EQ(offsets[4], source.find("\\u00e9"));
  EXPECT_EQ(offsets[5], source.find("\\u00e9"));
  EXPECT_EQ(offsets[6], source.find("\\U0001F600"));
  EXPECT_EQ(offsets[10], source.find("\\\""));
  EXPECT_EQ(offsets[11], source.find("${x}"));
  EXPECT_EQ(offsets[15], source.find("c\n"));
  EXPECT_EQ(offsets[17], source.find("d\""));
  EXPECT_EQ(offsets[18], source.find("d\"") + 1);
}

TEST(ScalarOffsets, Literal) {
  const Text text("k: |  # c\n    one\n\n      ${two}\n    three\n\nnext: 1\n");
  const Node node = text.root->get("k");
  ASSERT_EQ(node.as_string(), "one\n\n  ${two}\nthree\n");
  EXPECT_EQ(spelled(text, node), node.as_string());
  EXPECT_EQ(scalar_offsets(text.sources, node)[5], 23U);
}

TEST(ScalarOffsets, LiteralHeaders) {
  for (const std::string& source :
       {std::string("k: |2\n    one\n   two\n"), std::string("k: |-\n  one\n\n\n"),
        std::string("k: |+\n  one\n\n\n"), std::string("k: |\n\n\n  one\n"),
        std::string("k: |\r\n  one\r\n  two\r\n"), std::string("k: |\n  one"),
        std::string("- - |1+\n    x\n   y\n\n"), std::string("k: |+\n\n\n"),
        std::string("- |\n one\n two\n")}) {
    const Text text(source);
    ASSERT_TRUE(text.root) << source;
    Node node = *text.root;
    while (!node.is_scalar()) node = node.is_map() ? node.entries()[0].value : node.items()[0];
    std::string found = spelled(text, node);
    for (char& c : found) c = c == '\r' ? '\n' : c;
    EXPECT_EQ(found, node.as_string()) << source;
  }
}

TEST(ScalarOffsets, Folded) {
  const Text text(
      "k: >\n  one\n  two\n\n  three\n    more\n    lines\n  four\n\n\n  five\n\nn: 1\n");
  const Node node = text.root->get("k");
  ASSERT_EQ(node.as_string(), "one two\nthree\n  more\n  lines\nfour\n\nfive\n");
  EXPECT_EQ(spelled(text, node), "one\ntwo\nthree\n  more\n  lines\nfour\n\nfive\n");
}

TEST(ScalarOffsets, FoldedHeaders) {
  for (const std::string& source :
       {std::string("k: >-\n  a\n  b\n"), std::string("k: >+\n  a\n\n  b\n\n\n"),
        std::string("k: >\n\n\n  a\n   b\n  c\n"), std::string("k: >2\n    a\n  b\n"),
        std::string("k: >\r\n  a\r\n  b\r\n\r\n  c\r\n")}) {
    const Text text(source);
    ASSERT_TRUE(text.root) << source;
    const Node node = text.root->get("k");
    std::string found = spelled(text, node);
    std::string expected(node.as_string());
    for (char& c : found) c = c == '\r' || c == '\n' ? ' ' : c;
    for (char& c : expected) c = c == '\n' ? ' ' : c;
    EXPECT_EQ(found, expected) << source;
  }
}

TEST(ScalarOffsets, BehindProperties) {
  const Text text("k: &a !!str # comment\n  value\n");
  EXPECT_EQ(spelled(text, text.root->get("k")), "value");
}

TEST(ScalarOffsets, EmptyForOtherNodes) {
  const Text text("k: 5\nl: [a]\nempty: \"\"\n");
  EXPECT_TRUE(scalar_offsets(text.sources, text.root->get("k")).empty());
  EXPECT_TRUE(scalar_offsets(text.sources, text.root->get("l")).empty());
  EXPECT_TRUE(scalar_offsets(text.sources, Node::view("x")).empty());
  // A string computed from another one keeps its origin but not its text.
  const Node a = text.root->get("l").items()[0];
  EXPECT_TRUE(scalar_offsets(text.sources, Node::view("b", a.origin())).empty());
  EXPECT_EQ(scalar_offsets(text.sources, text.root->get("empty")).size(), 1U);
}

TEST(CommentBehind, StandsOnTheLineOfAPlainScalar) {
  Text text(
      "a: x # one\nb: \"x\" # two\nc: x\nd: | # three\n  x\ne: [x, z ] # four\nf: x\t#five\r\n# "
      "six\n");
  ASSERT_TRUE(text.root);
  const auto comment = [&](std::string_view key) {
    return std::string(text.sources.text(comment_behind(text.sources, text.root->get(key))));
  };
  EXPECT_EQ(comment("a"), "# one");
  EXPECT_EQ(comment("b"), "");
  EXPECT_EQ(comment("c"), "");
  EXPECT_EQ(comment("d"), "");
  EXPECT_EQ(comment("e"), "");
  EXPECT_EQ(comment("f"), "#five");
}

// Random block and quoted scalars: whatever the parser makes of them is found again.
TEST(ScalarOffsets, EveryStringIsFoundAgain) {
  std::mt19937 random(20261121);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string source = "k: ";
    const std::string_view letters[] = {"a", "b ", "é", " #", ":", "\t"};
    const char* const headers[] = {"|", "|-", "|+", ">", ">-"};
    if (below(3) != 0) {
      source += std::string(headers[below(5)]) + "\n";
      for (unsigned line = 0, lines = 1 + below(6); line < lines; ++line) {
        if (below(3) != 0) {
          source += "  " + std::string(line == 0 ? 0 : below(3), ' ');
          for (unsigned i = 0, n = 1 + below(4); i < n; ++i) source += letters[below(6)];
        }
        source += below(8) == 0 ? "\r\n" : "\n";
      }
    } else {
      const char quote = below(2) == 0 ? '"' : '\'';
      source += quote;
      const std::string_view pieces[] = {"a", " ", "\n", "é", "  ", "\n\n", "${x}"};
      for (unsigned i = 0, n = below(10); i < n; ++i) source += pieces[below(7)];
      source += quote;
      source += '\n';
    }
    const Text text(source);
    if (!text.root) continue;
    const Node node = text.root->get("k");
    if (!node.is_string()) continue;
    ++found;
    const auto offsets = scalar_offsets(text.sources, node);
    ASSERT_EQ(offsets.size(), node.size() + 1) << source;
    const std::string_view all = text.sources.file_text(text.file);
    for (std::size_t i = 0; i < node.size(); ++i) {
      const char c = node.as_string()[i];
      const bool same = offsets[i] < all.size() && all[offsets[i]] == c;
      const bool broken =
          (c == ' ' || c == '\n') &&
          (offsets[i] == all.size() || all[offsets[i]] == '\n' || all[offsets[i]] == '\r');
      ASSERT_TRUE(same || broken) << source << " byte " << i;
    }
  }
  EXPECT_GT(found, 2000);
}

}  // namespace
}  // namespace gpuctl::yaml
