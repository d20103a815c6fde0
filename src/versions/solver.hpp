// Choosing values that depend on each other: every axis gets one of its values, so that as few
// constraints as possible are broken. Knows nothing of what the values mean.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace gpuctl::versions {

/// Something that must hold between the values of some axes.
struct Constraint {
  std::vector<std::size_t> axes;
  std::size_t level = 0;  // below kLevels: one broken counts more than all of a higher level
  /// Of one value for each of `axes`, in their order. Is asked once for the same values.
  std::function<bool(std::span<const std::size_t> values)> holds;
};

inline constexpr std::size_t kLevels = 3;

/// How many constraints are broken, by level. Compared in that order.
using Cost = std::array<int, kLevels>;

/// Values of each axis that may be taken, the most wanted first.
using Candidates = std::vector<std::vector<std::size_t>>;

struct Solution {
  std::vector<std::size_t> values;  // one for each axis
  Cost cost = {};
};

/// A value given from outside, or nothing, for each axis.
using Pins = std::vector<std::optional<std::size_t>>;

/// A way out of a conflict: other values for some of the pinned axes.
struct WayOut {
  std::vector<std::size_t> changed;  // axes, ascending
  Solution solution;
};

class Solver {
 public:
  /// `free` has the values of each axis when nobody has named one, and at least one for each.
  Solver(Candidates free, std::vector<Constraint> constraints);

  /// The solution of least cost; of equals the one with the most wanted value of the first axis,
  /// then of the second, and so on.
  Solution best(const Pins& pins);
  /// Of pins that make the best solution cost more than it would without them: axes that do so by
  /// themselves, none of which could be left out. Empty when the pins cost nothing.
  std::vector<std::size_t> conflict(const Pins& pins);
  /// The ways to get the cost that is possible without pins by changing as few of them as possible,
  /// at most `most`; values near to the pinned ones come first. Empty when pins cost nothing.
  std::vector<WayOut> ways_out(const Pins& pins, std::size_t most);

 private:
  Solution search(const Candidates& candidates);
  bool holds(std::size_t constraint, std::span<const std::size_t> values);
  Candidates with(const Pins& pins) const;

  Candidates free_;
  std::vector<Constraint> constraints_;
  std::vector<std::map<std::vector<std::size_t>, bool>> known_;  // by constraint
  std::vector<std::vector<std::size_t>> complete_at_;  // constraints whose last axis this is
};

}  // namespace gpuctl::versions
