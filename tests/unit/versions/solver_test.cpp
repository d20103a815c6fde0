#include "versions/solver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuctl::versions {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Three releases of a platform and three of what runs on it, the most wanted first: 2 goes with
// platform 2 only, 1 with 1 and 2, 0 with 0.
Solver platform_and_product() {
  const auto together = [](std::span<const std::size_t> values) {
    return values[1] == 0 ? values[0] == 0 : values[0] >= values[1];
  };
  return Solver({{0, 1, 2}, {2, 1, 0}}, {{{0, 1}, 0, together}});
}

TEST(Solver, TakesTheMostWantedThatGoesTogether) {
  Solver solver = platform_and_product();
  EXPECT_THAT(solver.best({std::nullopt, std::nullopt}).values, ElementsAre(0, 0));
  EXPECT_THAT(solver.best({1, std::nullopt}).values, ElementsAre(1, 1));
  EXPECT_THAT(solver.best({2, std::nullopt}).values, ElementsAre(2, 2));
}

TEST(Solver, NamesAllPinsOfAConflictAndTheNearestWaysOut) {
  Solver solver = platform_and_product();
  EXPECT_THAT(solver.conflict({1, 2}), ElementsAre(0, 1));
  const std::vector<WayOut> ways = solver.ways_out({1, 2}, 3);
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_THAT(ways[0].solution.values, ElementsAre(2, 2));
  EXPECT_THAT(ways[1].solution.values, ElementsAre(1, 1));
  EXPECT_THAT(solver.ways_out({1, 2}, 1), testing::SizeIs(1));
  EXPECT_THAT(solver.conflict({2, 1}), IsEmpty());
}

TEST(Solver, LeavesOutPinsThatAreNotToBlame) {
  const auto second_is_zero = [](std::span<const std::size_t> values) { return values[0] == 0; };
  Solver solver({{0, 1}, {0, 1}, {0, 1}}, {{{1}, 1, second_is_zero}});
  EXPECT_THAT(solver.conflict({1, 1, 1}), ElementsAre(1));
  EXPECT_THAT(solver.ways_out({1, 1, 1}, 3).at(0).changed, ElementsAre(1));
}

TEST(Solver, HasNoConflictWhereNothingGoesTogether) {
  const auto never = [](std::span<const std::size_t>) { return false; };
  Solver solver({{0, 1}}, {{{0}, 0, never}});
  EXPECT_EQ(solver.best({1}).cost, (Cost{1, 0, 0}));
  EXPECT_THAT(solver.conflict({1}), IsEmpty());
  EXPECT_THAT(solver.ways_out({1}, 3), IsEmpty());
}

TEST(Solver, CountsALowLevelBeforeAllOfHigherOnes) {
  const auto is = [](std::size_t wanted) {
    return [wanted](std::span<const std::size_t> values) { return values[0] == wanted; };
  };
  Solver solver({{0, 1}}, {{{0}, 0, is(1)}, {{0}, 1, is(0)}, {{0}, 2, is(0)}});
  EXPECT_THAT(solver.best({std::nullopt}).values, ElementsAre(1));
}

}  // namespace
}  // namespace gpuctl::versions
