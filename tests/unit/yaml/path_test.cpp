#include "yaml/path.hpp"

#include <gtest/gtest.h>

#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::yaml {
namespace {

std::string steps_of(std::string_view text) {
  const auto steps = parse_path(text);
  if (!steps) return "malformed";
  std::string out;
  for (const PathStep& step : *steps) out += (step.bracketed ? "#" : "/") + step.text;
  return out;
}

TEST(Path, IsReadAsPeopleWriteIt) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {".", ""},
      {"spec", "/spec"},
      {".spec.replicas", "/spec/replicas"},
      {"taints[0].key", "/taints#0/key"},
      {"a[0][1]", "/a#0#1"},
      {"[0]", "#0"},
      {"pools[large].min", "/pools#large/min"},
      {R"(labels["a.b/c"])", "/labels/a.b/c"},
      {"labels['a]b'].x", "/labels/a]b/x"},
      {R"(l["a\"b\\c"])", R"(/l/a"b\c)"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(steps_of(text), expected) << text;
}

TEST(Path, MalformedTextIsRefused) {
  for (const char* text : {"a..b", "a.", "a[", "a[]", "a[0", "a[\"x", "a[\"x\"", "a[\"x\"y]",
                           "a[0]b", "..", "a[0].", "a.[0]x"}) {
    EXPECT_EQ(steps_of(text), "malformed") << text;
  }
}

TEST(Path, StepsPrintAsTheyAreRead) {
  for (const char* key : {"spec", "a-b_c", "a.b/c", "", "quote\"d", "back\\slash", "a]b", "ü"}) {
    const std::string step = key_step(key);
    const auto read = parse_path(step);
    ASSERT_TRUE(read) << step;
    ASSERT_EQ(read->size(), 1U) << step;
    EXPECT_EQ(read->front().text, key);
    EXPECT_FALSE(read->front().bracketed);
  }
}

class PathTree : public testing::Test {
 protected:
  Node read(const char* text) {
    const auto tree = yaml::read(sources_.add_file("t.yaml", text), sources_, arena_, sink_);
    return tree ? *tree : Node();
  }
  diag::Sources sources_;
  diag::Sink sink_;
  Arena arena_;
};

TEST_F(PathTree, ItemsGoByNameWhenThatIsClear) {
  const Node list = read("[{name: large}, {name: '7'}, {name: a b}, {name: [x]}, plain, {}]");
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) out += item_step(list.items()[i], i);
  EXPECT_EQ(out, "[large][1][2][3][4][5]");
}

TEST_F(PathTree, StepsLeadToNodes) {
  const Node tree = read("{pools: [{name: a, min: 1}, {name: b, min: 2}]}");
  const auto find = [&](std::string_view path) -> const Node* {
    const Node* at = &tree;
    const auto steps = parse_path(path);
    if (!steps) return nullptr;
    for (const PathStep& step : *steps) {
      at = step_into(*at, step);
      if (at == nullptr) return nullptr;
    }
    return at;
  };
  EXPECT_EQ(find("pools[b].min")->as_integer(), 2);
  EXPECT_EQ(find("pools[0].min")->as_integer(), 1);
  EXPECT_EQ(find("")->size(), 1U);
  EXPECT_EQ(find("pools[2]"), nullptr);
  EXPECT_EQ(find("pools[99999999999999999999]"), nullptr);
  EXPECT_EQ(find("pools[c]"), nullptr);
  EXPECT_EQ(find("pools.x"), nullptr);
  EXPECT_EQ(find("pools[a].min.x"), nullptr);
}

TEST(Path, SetsValuesWhereMapsAre) {
  Arena arena;
  diag::Sources sources;
  diag::Sink sink;
  const Node tree = *read(sources.add_file("x", "a: {b: 1, c: 2}\nd: [7]\n"), sources, arena, sink);
  const auto with = [&](std::vector<std::string> keys) {
    return emit_json(with_value(tree, keys, Node::integer(5), arena));
  };
  EXPECT_EQ(with({"a", "b"}), R"({"a":{"b":5,"c":2},"d":[7]})");
  EXPECT_EQ(with({"a", "x", "y"}), R"({"a":{"b":1,"c":2,"x":{"y":5}},"d":[7]})");
  EXPECT_EQ(with({"d", "0"}), R"({"a":{"b":1,"c":2},"d":[7]})");  // a list is left alone
  EXPECT_EQ(with({}), "5");
}

}  // namespace
}  // namespace gpuctl::yaml
