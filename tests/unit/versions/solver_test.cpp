#include "versions/solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gpuctl::versions {
namespace {

// A constraint as the set of tuples that keep it, so that another search can read it, too.
struct Listed {
  std::vector<std::size_t> axes;
  std::size_t level = 0;
  std::vector<std::vector<std::size_t>> good;
};

struct Puzzle {
  Candidates free;
  std::vector<Listed> constraints;
  Pins pins;
};

using Random = std::mt19937;

std::size_t below(std::size_t bound, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

Puzzle puzzle(Random& random) {
  Puzzle out;
  const std::size_t axes = 1 + below(4, random);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::vector<std::size_t> values(1 + below(4, random));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i;
    // A pin may name a value that nobody would choose.
    out.pins.emplace_back(std::nullopt);
    if (below(2, random) == 0) out.pins.back() = below(values.size() + 1, random);
    out.free.push_back(std::move(values));
  }
  const std::size_t constraints = below(6, random);
  for (std::size_t i = 0; i < constraints; ++i) {
    Listed made;
    made.level = below(kLevels, random);
    made.axes.push_back(below(axes, random));
    const std::size_t other = below(axes, random);
    if (other != made.axes.front()) made.axes.push_back(other);
    std::sort(made.axes.begin(), made.axes.end());
    const std::size_t good = below(6, random);
    for (std::size_t tuple = 0; tuple < good; ++tuple) {
      std::vector<std::size_t> values;
      for (const std::size_t axis : made.axes)
        values.push_back(below(out.free[axis].size(), random));
      made.good.push_back(std::move(values));
    }
    out.constraints.push_back(std::move(made));
  }
  return out;
}

Solver solver(const Puzzle& puzzle) {
  std::vector<Constraint> constraints;
  for (const Listed& listed : puzzle.constraints) {
    Constraint made;
    made.axes = listed.axes;
    made.level = listed.level;
    made.holds = [good = listed.good](std::span<const std::size_t> values) {
      return std::any_of(good.begin(), good.end(), [&](const std::vector<std::size_t>& tuple) {
        return std::equal(tuple.begin(), tuple.end(), values.begin(), values.end());
      });
    };
    constraints.push_back(std::move(made));
  }
  return {puzzle.free, std::move(constraints)};
}

Cost cost_of(const Puzzle& puzzle, const std::vector<std::size_t>& values) {
  Cost cost = {};
  for (const Listed& listed : puzzle.constraints) {
    std::vector<std::size_t> tuple;
    for (const std::size_t axis : listed.axes) tuple.push_back(values[axis]);
    if (std::find(listed.good.begin(), listed.good.end(), tuple) == listed.good.end()) {
      ++cost.at(listed.level);
    }
  }
  return cost;
}

// Every assignment, in the order of preference; written apart from the solver.
Solution exhaustive(const Puzzle& puzzle, const Pins& pins) {
  std::vector<std::vector<std::size_t>> all = {{}};
  for (std::size_t axis = 0; axis < puzzle.free.size(); ++axis) {
    std::vector<std::vector<std::size_t>> longer;
    for (const std::vector<std::size_t>& begun : all) {
      std::vector<std::size_t> candidates = puzzle.free[axis];
      if (pins[axis]) candidates = {*pins[axis]};
      for (const std::size_t value : candidates) {
        longer.push_back(begun);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  Solution best{all.front(), cost_of(puzzle, all.front())};
  for (const std::vector<std::size_t>& values : all) {
    const Cost cost = cost_of(puzzle, values);
    if (cost < best.cost) best = {values, cost};
  }
  return best;
}

TEST(Solver, TakesTheMostWantedOfTheBestAssignments) {
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const Puzzle made = puzzle(random);
    const Solution wanted = exhaustive(made, made.pins);
    const Solution got = solver(made).best(made.pins);
    ASSERT_EQ(got.values, wanted.values) << "puzzle " << i;
    ASSERT_EQ(got.cost, wanted.cost) << "puzzle " << i;
  }
}

// The cost that pins cause on the worst level that they make worse, and on those above it.
bool in_conflict(const Puzzle& puzzle, const Pins& pins, const Cost& pinned) {
  const Cost goal = exhaustive(puzzle, Pins(pins.size())).cost;
  const Cost cost = exhaustive(puzzle, pins).cost;
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (cost[level] != goal[level]) return cost[level] > goal[level];
    if (pinned[level] != goal[level]) return false;
  }
  return false;
}

TEST(Solver, NamesPinsOfWhichNoneCanBeLeftOut) {
  Random random(11);
  int conflicts = 0;
  for (int i = 0; i < 2000; ++i) {
    const Puzzle made = puzzle(random);
    const Cost goal = exhaustive(made, Pins(made.pins.size())).cost;
    const Cost pinned = exhaustive(made, made.pins).cost;
    const std::vector<std::size_t> named = solver(made).conflict(made.pins);
    ASSERT_EQ(named.empty(), pinned <= goal) << "puzzle " << i;
    if (named.empty()) continue;
    ++conflicts;
    Pins only(made.pins.size());
    for (const std::size_t axis : named) only[axis] = made.pins[axis];
    ASSERT_TRUE(in_conflict(made, only, pinned)) << "puzzle " << i;
    for (const std::size_t axis : named) {
      Pins fewer = only;
      fewer[axis].reset();
      ASSERT_FALSE(in_conflict(made, fewer, pinned)) << "puzzle " << i << ", axis " << axis;
    }
  }
  EXPECT_GT(conflicts, 100);
}

TEST(Solver, WaysOutChangeAsFewPinsAsPossible) {
  Random random(13);
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    const Puzzle made = puzzle(random);
    const Cost goal = exhaustive(made, Pins(made.pins.size())).cost;
    const std::vector<WayOut> ways = solver(made).ways_out(made.pins, 3);
    ASSERT_EQ(ways.empty(), exhaustive(made, made.pins).cost <= goal) << "puzzle " << i;
    for (const WayOut& way : ways) {
      ++found;
      ASSERT_LE(cost_of(made, way.solution.values), goal) << "puzzle " << i;
      for (std::size_t axis = 0; axis < made.pins.size(); ++axis) {
        const bool changed =
            std::find(way.changed.begin(), way.changed.end(), axis) != way.changed.end();
        if (!made.pins[axis]) continue;
        ASSERT_EQ(way.solution.values[axis] != *made.pins[axis], changed) << "puzzle " << i;
      }
      // No smaller set of changes is enough.
      for (const std::size_t kept : way.changed) {
        Pins pins = made.pins;
        for (const std::size_t axis : way.changed) {
          if (axis != kept) pins[axis].reset();
        }
        ASSERT_GT(exhaustive(made, pins).cost, goal) << "puzzle " << i;
      }
    }
  }
  EXPECT_GT(found, 100);
}

TEST(Solver, PrefersValuesNearToThePinnedOne) {
  // Values 0 to 4; the second axis is pinned to 3, and takes only 0 and 4.
  Constraint constraint;
  constraint.axes = {1};
  constraint.holds = [](std::span<const std::size_t> values) {
    return values[0] == 0 || values[0] == 4;
  };
  Solver made({{0}, {0, 1, 2, 3, 4}}, {constraint});
  const std::vector<WayOut> ways = made.ways_out({std::nullopt, 3}, 3);
  ASSERT_EQ(ways.size(), 1U);
  EXPECT_EQ(ways.front().solution.values, (std::vector<std::size_t>{0, 4}));
}

}  // namespace
}  // namespace gpuctl::versions
