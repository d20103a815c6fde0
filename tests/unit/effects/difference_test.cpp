// Which fields differ, and how they are named.
#include "effects/difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "effects/pattern.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::effects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Differences : public testing::Test {
 protected:
  yaml::Node read(const std::string& text) {
    diag::Sink sink;
    const auto tree = yaml::read(sources_.add_file("text", text), sources_, arena_, sink);
    EXPECT_FALSE(sink.has_errors());
    return tree ? *tree : yaml::Node();
  }

  // "path: from -> to", absent as "-".
  std::vector<std::string> between(const std::string& from, const std::string& to) {
    std::vector<std::string> out;
    for (const Field& field : differences(read(from), read(to), arena_)) {
      out.push_back(written(field.steps) + ": " + shown(field.from) + " -> " + shown(field.to));
    }
    return out;
  }

  static std::string shown(const yaml::Node& node) {
    return node.is_null() ? "-" : yaml::emit_json(node);
  }

  diag::Sources sources_;
  yaml::Arena arena_;
};

TEST_F(Differences, AreFieldsByPath) {
  EXPECT_THAT(between("{a: {b: 1, c: x}}", "{a: {b: 2, c: x}, d: [1]}"),
              ElementsAre("a.b: 1 -> 2", "d: - -> [1]"));
  EXPECT_THAT(between("{a: 1, b: null}", "{a: 1}"), IsEmpty());
  EXPECT_THAT(between("{a: 1.0}", "{a: 1}"), IsEmpty());
}

TEST_F(Differences, MatchItemsByWhatNamesThem) {
  EXPECT_THAT(
      between("{l: [{name: a, v: 1}, {name: b, v: 2}]}", "{l: [{name: b, v: 3}, {name: a, v: 1}]}"),
      ElementsAre("l[b].v: 2 -> 3"));
  EXPECT_THAT(between("{taints: [{key: k, effect: NoSchedule}]}",
                      "{taints: [{key: k, effect: NoSchedule}, {key: k, effect: NoExecute}]}"),
              ElementsAre("taints[k:NoExecute].key: - -> \"k\"",
                          "taints[k:NoExecute].effect: - -> \"NoExecute\""));
}

TEST_F(Differences, TakeOtherListsByPositionOrAsOneValue) {
  EXPECT_THAT(between("{l: [{v: 1}, {v: 2}]}", "{l: [{v: 1}, {v: 3}]}"),
              ElementsAre("l[1].v: 2 -> 3"));
  EXPECT_THAT(between("{l: [{v: 1}]}", "{l: [{v: 1}, {v: 3}]}"),
              ElementsAre("l: [{\"v\":1}] -> [{\"v\":1},{\"v\":3}]"));
  EXPECT_THAT(between("{l: [a, b]}", "{l: [b, a]}"),
              ElementsAre("l: [\"a\",\"b\"] -> [\"b\",\"a\"]"));
  EXPECT_THAT(between("{l: [{name: a}, {name: a}]}", "{l: [{name: a}]}"),
              ElementsAre("l: [{\"name\":\"a\"},{\"name\":\"a\"}] -> [{\"name\":\"a\"}]"));
}

TEST_F(Differences, EnterTextsThatHoldYaml) {
  EXPECT_THAT(between("data:\n  c.yaml: |\n    a:\n      b: 1\n    x: 2\n",
                      "data:\n  c.yaml: |\n    a:\n      b: 3\n    x: 2\n"),
              ElementsAre("data[\"c.yaml\"].a.b: 1 -> 3"));
  // What only reads otherwise differs, too: somebody may look at the bytes.
  EXPECT_THAT(
      between("data:\n  c: |\n    a: 1\n    b: 2\n", "data:\n  c: |\n    a: 1  # one\n    b: 2\n"),
      ElementsAre("data.c: \"a: 1\\nb: 2\\n\" -> \"a: 1  # one\\nb: 2\\n\""));
}

TEST_F(Differences, TakePartsThatComeOrGoApart) {
  const yaml::Node from = read("{spec: {a: 1}}");
  const yaml::Node to = read("{spec: {a: 1, deep: {b: {c: 1, d: 2}}}}");
  const std::vector<Field> found = differences(from, to, arena_);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(written(found[0].steps), "spec.deep.b.c");
  EXPECT_EQ(found[0].whole, 2U);  // spec.deep
}

TEST(Patterns, CoverAFieldAndAllBelowIt) {
  const auto covers = [](const char* pattern, const std::vector<Step>& field) {
    const auto parsed = Pattern::parse(pattern);
    return parsed && parsed->covers(field);
  };
  const std::vector<Step> taint = {{"spec"}, {"taints"}, {"k:NoSchedule", true}, {"key"}};
  EXPECT_TRUE(covers("spec", taint));
  EXPECT_TRUE(covers("spec.taints[].key", taint));
  EXPECT_TRUE(covers("spec.*[].key", taint));
  EXPECT_FALSE(covers("spec.taints.key", taint));
  EXPECT_FALSE(covers("spec.taints[].key.more", taint));
  EXPECT_FALSE(covers("spec.taint", taint));
  EXPECT_TRUE(covers("metadata.labels[\"a.b/c\"]", {{"metadata"}, {"labels"}, {"a.b/c"}}));
  EXPECT_FALSE(Pattern::parse("a..b").has_value());
  EXPECT_FALSE(Pattern::parse("").has_value());
}

}  // namespace
}  // namespace gpuctl::effects
