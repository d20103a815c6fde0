// Whatever is written is read back: the same tree, kinds included, from the same bytes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "fixture.hpp"
#include "same.hpp"

namespace gpuctl::yaml {
namespace {

using test::same;

// Trees of a fixed sequence, full of texts that are hard to write.
class Generator {
 public:
  Generator(unsigned seed, Arena& arena) : random_(seed), arena_(arena) {}

  Node node(int depth) {
    switch (below(depth > 0 ? 10 : 7)) {
      case 0:
        return Node();
      case 1:
        return Node::boolean(below(2) == 0);
      case 2:
        return Node::integer(integer());
      case 3:
        return Node::real(real());
      case 7:
        return list(depth);
      case 8:
      case 9:
        return map(depth);
      default:
        return arena_.string(text());
    }
  }

  std::string text() {
    static constexpr std::string_view kPieces[] = {"a",
                                                   "b",
                                                   " ",
                                                   "  ",
                                                   "\n",
                                                   "\n\n",
                                                   ":",
                                                   ": ",
                                                   "#",
                                                   " #",
                                                   "-",
                                                   "- ",
                                                   "?",
                                                   "'",
                                                   "\"",
                                                   "\\",
                                                   "\t",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ",",
                                                   "&",
                                                   "*",
                                                   "!",
                                                   "|",
                                                   ">",
                                                   "%",
                                                   "@",
                                                   "`",
                                                   "0",
                                                   "1",
                                                   "x",
                                                   "_",
                                                   ".",
                                                   "e",
                                                   "+",
                                                   "yes",
                                                   "no",
                                                   "null",
                                                   "~",
                                                   "true",
                                                   "on",
                                                   "0x1F",
                                                   "1:30",
                                                   "2001-01-01",
                                                   "<<",
                                                   "=",
                                                   "---",
                                                   "...",
                                                   "é",
                                                   "\xC2\x85",
                                                   "\xE2\x80\xA8",
                                                   "\xEF\xBB\xBF",
                                                   "😀",
                                                   "\r",
                                                   "\r\n",
                                                   "\x01",
                                                   "\x7f",
                                                   "${a}",
                                                   ".inf",
                                                   "\xC2\xA0",
                                                   "\xE2\x80\xAE",
                                                   "日本"};
    std::string out;
    for (unsigned i = 0, n = below(6); i < n; ++i) out += kPieces[below(std::size(kPieces))];
    return out;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  std::int64_t integer() {
    switch (below(4)) {
      case 0:
        return std::numeric_limits<std::int64_t>::min();
      case 1:
        return std::numeric_limits<std::int64_t>::max();
      default:
        return static_cast<std::int64_t>(below(2000)) - 1000;
    }
  }

  double real() {
    const double values[] = {0.0,
                             -0.0,
                             1.0,
                             0.1,
                             1e300,
                             -1e-300,
                             5e-324,
                             1.5,
                             1e21,
                             123456789.125,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()};
    return values[below(std::size(values))];
  }

  Node list(int depth) {
    std::vector<Node> items;
    for (unsigned i = 0, n = below(5); i < n; ++i) items.push_back(node(depth - 1));
    return arena_.list(items);
  }

  Node map(int depth) {
    MapBuilder builder;
    for (unsigned i = 0, n = below(below(10) == 0 ? 20 : 5); i < n; ++i) {
      std::string key = text();
      // Invisible characters are refused in keys.
      for (const std::string_view hidden : {"\xEF\xBB\xBF", "\xE2\x80\xAE"}) {
        for (std::size_t at = 0; (at = key.find(hidden)) != std::string::npos;) {
          key.erase(at, hidden.size());
        }
      }
      builder.set(arena_, key, node(depth - 1));
    }
    return builder.build(arena_);
  }

  std::mt19937 random_;
  Arena& arena_;
};

TEST(RoundTrip, RandomTrees) {
  for (unsigned seed = 1; seed <= 4000; ++seed) {
    Arena arena;
    const Node tree = Generator(seed, arena).node(5);
    const std::string text = emit(tree);
    const test::Text again(text);
    ASSERT_TRUE(again.root) << "seed " << seed << "\n"
                            << text << "\n"
                            << again.sink.all().front().message;
    ASSERT_TRUE(same(tree, *again.root)) << "seed " << seed << "\n" << text;
    ASSERT_EQ(emit(*again.root), text) << "seed " << seed;
  }
}

// JSON is YAML: the JSON writer's text reads back as well.
TEST(RoundTrip, Json) {
  int compared = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    Arena arena;
    const Node tree = Generator(seed, arena).node(4);
    const std::string text = emit_json(tree);
    ReadLimits limits;
    limits.ambiguous_scalars = true;
    const test::Text again(text + "\n", limits);
    // The characters that JSON allows and YAML does not come from the generator.
    if (!again.root) continue;
    ++compared;
    ASSERT_EQ(emit_json(*again.root), text) << "seed " << seed;
  }
  EXPECT_GT(compared, 500);
}

// Whatever a value says, it stays a text: 100,000 of them, in lists and as values of keys.
TEST(RoundTrip, TextsStayTexts) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    Arena arena;
    Generator generator(seed, arena);
    std::vector<Node> texts;
    std::vector<Entry> entries;
    for (int i = 0; i < 500; ++i) {
      texts.push_back(arena.string(generator.text()));
      entries.push_back(arena.entry("k" + std::to_string(i), arena.string(generator.text())));
    }
    const Node both[] = {arena.list(texts), arena.map(entries)};
    const Node tree = arena.list(both);
    const test::Text again(emit(tree));
    ASSERT_TRUE(again.root) << "seed " << seed << ": " << again.sink.all().front().message;
    ASSERT_TRUE(same(tree, *again.root)) << "seed " << seed;
  }
}

// Every document of the project: samples, knowledge, and what golden cases render.
TEST(RoundTrip, DocumentsOfTheProject) {
  const std::filesystem::path root = GPUCTL_SOURCE_DIR;
  int documents = 0;
  for (const char* folder : {"blueprints", "providers", "templates", "tests/golden/blueprints"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (file.path().extension() != ".yaml" && file.path().extension() != ".lock") continue;
      std::ifstream stream(file.path());
      std::stringstream content;
      content << stream.rdbuf();
      const test::Text text(content.str());
      ASSERT_TRUE(text.root) << file.path() << ": " << text.sink.all().front().message;
      const std::string written = emit(*text.root);
      const test::Text again(written);
      ASSERT_TRUE(again.root) << file.path() << ": " << again.sink.all().front().message;
      ASSERT_TRUE(same(*text.root, *again.root)) << file.path();
      ASSERT_EQ(emit(*again.root), written) << file.path();
      ++documents;
    }
  }
  EXPECT_GT(documents, 150);
}

TEST(RoundTrip, NotANumber) {
  const test::Text again(emit(Node::real(std::numeric_limits<double>::quiet_NaN())));
  ASSERT_TRUE(again.root);
  EXPECT_TRUE(again.root->is_real());
  EXPECT_NE(again.root->as_real(), again.root->as_real());
}

}  // namespace
}  // namespace gpuctl::yaml
