#include "base/stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace gpuctl::base {
namespace {

using std::chrono::milliseconds;

StageTime time_of(Stage stage) {
  for (const StageTime& one : stage_times()) {
    if (one.stage == stage) return one;
  }
  return {stage};
}

// One test, because times are taken from start_stages() to the end of the program.
TEST(Stages, CountWhatIsSpentInEachWithoutWhatIsInside) {
  { const StageScope early(Stage::derive); }
  EXPECT_TRUE(stage_times().empty());
  start_stages();
  {
    const StageScope outer(Stage::blueprint);
    std::this_thread::sleep_for(milliseconds(2));
    for (int i = 0; i < 2; ++i) {
      const StageScope inner(Stage::knowledge);
      std::this_thread::sleep_for(milliseconds(20));
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_EQ(time_of(Stage::blueprint).runs, 1);
  EXPECT_GE(time_of(Stage::blueprint).total, milliseconds(4));
  EXPECT_EQ(time_of(Stage::knowledge).runs, 2);
  EXPECT_GE(time_of(Stage::knowledge).total, milliseconds(40));
  EXPECT_LT(time_of(Stage::blueprint).total, time_of(Stage::knowledge).total);
  EXPECT_EQ(time_of(Stage::write).runs, 0);
}

TEST(Stages, OfSeveralThreadsAddUp) {
  start_stages();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        const StageScope scope(Stage::render);
        std::this_thread::sleep_for(milliseconds(5));
      });
    }
  }
  EXPECT_EQ(time_of(Stage::render).runs, 4);
  EXPECT_GE(time_of(Stage::render).total, milliseconds(20));
}

TEST(Stages, HaveNamesInTheirOrder) {
  for (std::size_t i = 0; i < kStages; ++i) {
    EXPECT_FALSE(stage_name(static_cast<Stage>(i)).empty());
  }
}

}  // namespace
}  // namespace gpuctl::base
