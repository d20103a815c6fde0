#include "imports/absent.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/knowledge.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::imports {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A tree, or a list of them.
std::vector<yaml::Node> trees(testing::Lab& lab, const std::string& text) {
  const yaml::Node parsed = lab.parse(text);
  if (!parsed.is_list()) return {parsed};
  return {parsed.items().begin(), parsed.items().end()};
}

struct Outcome {
  std::string text;
  std::vector<std::string> restated;
};

Outcome outcome(const std::string& absent, const std::string& wanted, const std::string& made) {
  testing::Lab lab;
  yaml::Arena arena;
  Outcome out;
  out.text = yaml::emit(without_restated(trees(lab, absent), lab.parse(wanted), lab.parse(made),
                                         arena, &out.restated));
  return out;
}

TEST(Absent, DropsWhatOnlyRestates) {
  const Outcome out = outcome("a: {b: 1, c: 2}\n", "a: {b: 1, c: 3}\nd: 1\n", "{}\n");
  EXPECT_EQ(out.text, "a:\n  c: 3\nd: 1\n");
  EXPECT_THAT(out.restated, ElementsAre("a.b"));
}

TEST(Absent, DropsMapsThatBecomeEmptyUnlessTheyAreMade) {
  EXPECT_EQ(outcome("a: {b: 1}\n", "a: {b: 1}\n", "{}\n").text, "{}\n");
  EXPECT_EQ(outcome("a: {b: 1}\n", "a: {b: 1}\n", "a: {c: 1}\n").text, "a: {}\n");
}

TEST(Absent, TakesWhatIsMadeWhereItRestates) {
  const Outcome out = outcome("a: {b: 1, c: {d: x}}\n", "{}\n", "a: {b: 1, c: {d: x}}\n");
  EXPECT_EQ(out.text, "a:\n  b: 1\n  c:\n    d: x\n");
  EXPECT_THAT(out.restated, ElementsAre("a.b", "a.c.d"));
}

TEST(Absent, LeavesOtherValuesAlone) {
  const Outcome other = outcome("a: {b: 1}\n", "a: {b: 2}\n", "{}\n");
  EXPECT_EQ(other.text, "a:\n  b: 2\n");
  EXPECT_THAT(other.restated, IsEmpty());
  // Both say it, and not the same.
  EXPECT_EQ(outcome("a: {b: 1}\n", "a: {b: 1}\n", "a: {b: 2}\n").text, "a:\n  b: 1\n");
  EXPECT_EQ(outcome("a: {b: 1}\n", "{}\n", "a: {b: 2}\n").text, "{}\n");
  // A value of another shape than that which is described.
  EXPECT_EQ(outcome("a: {b: 1}\n", "a: [1]\n", "{}\n").text, "a:\n- 1\n");
}

TEST(Absent, TakesOneOfSeveralValuesForAnother) {
  const Outcome out = outcome("- a: {b: []}\n- a: {b: [1]}\n", "a: {b: []}\n", "a: {b: [1]}\n");
  EXPECT_EQ(out.text, "a:\n  b:\n  - 1\n");
  EXPECT_THAT(out.restated, ElementsAre("a.b"));
  EXPECT_EQ(outcome("- a: {b: []}\n- a: {b: [1]}\n", "a: {b: []}\n", "a: {b: [2]}\n").text,
            "a:\n  b: []\n");
}

TEST(Absent, LooksIntoTextsUnderAnyName) {
  const std::string absent = "data: {'*': {flags: {mode: none}}}\n";
  const std::string made = "data:\n  x: |\n    version: v1\n    size: 2\n";
  const Outcome out = outcome(
      absent, "data:\n  x: |\n    version: v1\n    flags: {mode: none}\n    size: 2\n", made);
  EXPECT_EQ(out.text, made);
  EXPECT_THAT(out.restated, ElementsAre("data.x.flags.mode"));
  const std::string other =
      "data:\n  x: |\n    version: v1\n    flags: {mode: none}\n    size: 3\n";
  // What differs besides stays; what is restated goes even so.
  EXPECT_EQ(outcome(absent, other, made).text, "data:\n  x: |\n    version: v1\n    size: 3\n");
  EXPECT_THAT(outcome(absent, other, made).restated, ElementsAre("data.x.flags.mode"));
  const std::string plain = "data:\n  x: |\n    version: v1 # as it was\n    size: 3\n";
  EXPECT_EQ(outcome(absent, plain, made).text, plain);
}

TEST(Absent, TakesEmptyMapsAndListsForValues) {
  EXPECT_EQ(outcome("a: {}\nb: []\n", "a: {}\nb: []\n", "{}\n").text, "{}\n");
  EXPECT_EQ(outcome("a: {}\n", "a: {b: 1}\n", "{}\n").text, "a:\n  b: 1\n");
}

}  // namespace
}  // namespace gpuctl::imports
