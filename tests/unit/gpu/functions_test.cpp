#include "gpu/functions.hpp"

#include <gtest/gtest.h>

#include "classes.hpp"

namespace gpuctl::gpu {
namespace {

using yaml::Node;

class FunctionsTest : public testing::Test {
 protected:
  FunctionsTest() {
    auto registry = std::make_shared<cel::Functions>();
    for (cel::Function& function : functions()) registry->add(std::move(function));
    environment_.functions = registry;
    environment_.variables = {{"gpu", cel::Type::dyn()}};
  }

  Node row(const MigClass& gpu) {
    std::vector<Node> profiles;
    for (const MigProfile& profile : gpu.profiles) {
      std::vector<Node> starts;
      for (const int start : profile.starts) starts.push_back(Node::integer(start));
      const std::vector<yaml::Entry> entries = {
          arena_.entry("name", arena_.string(profile.name)),
          arena_.entry("slices", Node::integer(profile.slices)),
          arena_.entry("units", Node::integer(profile.units)),
          arena_.entry("starts", arena_.list(starts)),
          arena_.entry("most", Node::integer(profile.most)),
          arena_.entry("media", media(profile.media))};
      profiles.push_back(arena_.map(entries));
    }
    const std::vector<yaml::Entry> entries = {arena_.entry("name", arena_.string(gpu.name)),
                                              arena_.entry("units", Node::integer(gpu.units)),
                                              arena_.entry("slices", Node::integer(gpu.slices)),
                                              arena_.entry("profiles", arena_.list(profiles)),
                                              arena_.entry("media", media(gpu.media))};
    return arena_.map(entries);
  }
  Node media(const std::map<std::string, int>& engines) {
    std::vector<yaml::Entry> entries;
    for (const auto& [name, count] : engines) {
      entries.push_back(arena_.entry(name, Node::integer(count)));
    }
    return arena_.map(entries);
  }

  /// The value of an expression over the variable `gpu`; a compile error fails the test.
  cel::Outcome evaluate(const std::string& text, const Node& gpu) {
    std::vector<cel::Problem> problems;
    const auto program = cel::compile(text, environment_, problems);
    for (const cel::Problem& problem : problems) ADD_FAILURE() << problem.message;
    if (!program) return {};
    const std::vector<cel::Value> values = {cel::Value(gpu)};
    return cel::evaluate(*program, values, arena_);
  }
  void expect_true(const std::string& text, const MigClass& gpu) {
    const cel::Outcome outcome = evaluate(text, row(gpu));
    ASSERT_TRUE(outcome.ok()) << text << ": " << outcome.error->message;
    EXPECT_TRUE(outcome.value.node().is_boolean() && outcome.value.node().as_boolean()) << text;
  }

  yaml::Arena arena_;
  cel::Environment environment_;
};

TEST_F(FunctionsTest, ReadsARow) {
  const auto read = read_class(row(class_12_4()));
  ASSERT_TRUE(std::holds_alternative<MigClass>(read));
  const auto& gpu = std::get<MigClass>(read);
  EXPECT_EQ(gpu.name, "12/4");
  EXPECT_EQ(gpu.units, 12);
  EXPECT_EQ(gpu.slices, 4);
  EXPECT_EQ(gpu.media, class_12_4().media);
  ASSERT_EQ(gpu.profiles.size(), 11U);
  EXPECT_EQ(gpu.profiles[5].name, "2g.48gb");
  EXPECT_EQ(gpu.profiles[5].starts, (std::vector<int>{0, 6}));
  EXPECT_EQ(gpu.profiles[5].media, (std::map<std::string, int>{{"nvdec", 2}}));
}

TEST_F(FunctionsTest, ReportsBrokenRows) {
  EXPECT_TRUE(std::holds_alternative<std::string>(read_class(Node::null())));
  yaml::MapBuilder builder(row(class_4_4()));
  builder.remove("units");
  EXPECT_EQ(std::get<std::string>(read_class(builder.build(arena_))),
            "`units` is missing or not a small integer");
  builder.set(arena_, "units", Node::integer(std::int64_t{1} << 40));
  EXPECT_TRUE(std::holds_alternative<std::string>(read_class(builder.build(arena_))));
  builder.set(arena_, "units", Node::integer(2));
  EXPECT_NE(std::get<std::string>(read_class(builder.build(arena_))).find("profile `1g.6gb`"),
            std::string::npos);
}

TEST_F(FunctionsTest, Places) {
  const MigClass gpu = class_7_8();
  expect_true("mig.place(gpu, {'1g.10gb': 2, '2g.20gb': 1, '3g.40gb': 1}).ok", gpu);
  expect_true("mig.place(gpu, {'3g.40gb': 2}).lostCompute == 1", gpu);
  expect_true("mig.place(gpu, {'3g.40gb': 2}).maximal", gpu);
  expect_true("mig.place(gpu, {'1g.10gb': 7}).lostMemory == 1", gpu);
  expect_true("mig.place(gpu, {'2g.20gb': 3}).freeMemory == 2", gpu);
  expect_true(
      "mig.place(gpu, {'4g.40gb': 1, '3g.40gb': 1}).placements == "
      "[{'profile': '4g.40gb', 'start': 0, 'size': 4}, {'profile': '3g.40gb', 'start': 4, 'size': "
      "4}]",
      gpu);
  expect_true("!mig.place(gpu, {'7g.80gb': 1, '1g.10gb': 1}).ok", gpu);
  expect_true("mig.place(gpu, {'3g.40gb': 2, '1g.10gb': 1}).reason == 'needs 9 of 8 memory slices'",
              gpu);
  expect_true("mig.place(gpu, {'2g.20gb': 4}).nearest == [{'2g.20gb': 3}]", gpu);
  expect_true("!mig.place(gpu, {'1g.10gb': 9223372036854775807}).ok", gpu);
  expect_true("!mig.place(gpu, {'1g.10gb': -5}).ok", gpu);
}

TEST_F(FunctionsTest, Lists) {
  expect_true("mig.list(gpu) == ['1g.6gb', '1g.6gb+me', '2g.12gb', '2g.12gb+me', '4g.24gb']",
              class_4_4());
}

TEST_F(FunctionsTest, ErrorsAreEvaluationErrors) {
  for (const std::string text : {"mig.place(gpu, {'1g': 1}).ok", "mig.list(gpu) == []"}) {
    yaml::MapBuilder builder;
    builder.set(arena_, "name", arena_.string("broken"));
    const cel::Outcome outcome = evaluate(text, builder.build(arena_));
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error->message.rfind("MIG class: ", 0), 0U) << outcome.error->message;
  }
}

TEST_F(FunctionsTest, TheCheckerKnowsTheFields) {
  std::vector<cel::Problem> problems;
  EXPECT_EQ(cel::compile("mig.place(gpu, {'a': 1}).okay", environment_, problems), nullptr);
  EXPECT_FALSE(problems.empty());
  problems.clear();
  EXPECT_EQ(cel::compile("mig.place(gpu, {'a': 'b'})", environment_, problems), nullptr);
  EXPECT_FALSE(problems.empty());
}

}  // namespace
}  // namespace gpuctl::gpu
