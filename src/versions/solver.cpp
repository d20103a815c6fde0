#include "versions/solver.hpp"

#include <algorithm>

namespace gpuctl::versions {

Solver::Solver(Candidates free, std::vector<Constraint> constraints)
    : free_(std::move(free)),
      constraints_(std::move(constraints)),
      known_(constraints_.size()),
      complete_at_(free_.size()) {
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const auto last = std::max_element(constraints_[i].axes.begin(), constraints_[i].axes.end());
    if (last != constraints_[i].axes.end()) complete_at_[*last].push_back(i);
  }
}

bool Solver::holds(std::size_t constraint, std::span<const std::size_t> values) {
  std::vector<std::size_t> asked;
  for (const std::size_t axis : constraints_[constraint].axes) asked.push_back(values[axis]);
  const auto found = known_[constraint].find(asked);
  if (found != known_[constraint].end()) return found->second;
  const bool answer = constraints_[constraint].holds(asked);
  known_[constraint].emplace(std::move(asked), answer);
  return answer;
}

// Depth first in the order of axes and values, cut off where the cost is reached already: of equals
// the first one stays.
Solution Solver::search(const Candidates& candidates) {
  std::optional<Solution> best;
  std::vector<std::size_t> values(candidates.size());
  const std::function<void(std::size_t, Cost)> go = [&](std::size_t axis, Cost so_far) {
    if (best && so_far >= best->cost) return;
    if (axis == candidates.size()) {
      best = Solution{values, so_far};
      return;
    }
    for (const std::size_t value : candidates[axis]) {
      values[axis] = value;
      Cost cost = so_far;
      for (const std::size_t constraint : complete_at_[axis]) {
        if (holds(constraint, values)) continue;
        ++cost.at(constraints_[constraint].level);
      }
      go(axis + 1, cost);
    }
  };
  go(0, {});
  return best.value_or(Solution());
}

Candidates Solver::with(const Pins& pins) const {
  Candidates candidates = free_;
  for (std::size_t axis = 0; axis < pins.size(); ++axis) {
    if (pins[axis]) candidates[axis] = {*pins[axis]};
  }
  return candidates;
}

Solution Solver::best(const Pins& pins) {
  return search(with(pins));
}

std::vector<std::size_t> Solver::conflict(const Pins& pins) {
  const Cost pinned = best(pins).cost;
  // Nothing is better than that: most clusters end here, before all values are looked at.
  if (pinned == Cost{}) return {};
  const Cost goal = best(Pins(pins.size())).cost;
  if (pinned <= goal) return {};
  // The worst level is explained, and no other.
  const auto worst = std::mismatch(pinned.begin(), pinned.end(), goal.begin()).first;
  const auto levels = worst - pinned.begin() + 1;
  const auto too_much = [&](const Cost& cost) {
    return std::lexicographical_compare(goal.begin(), goal.begin() + levels, cost.begin(),
                                        cost.begin() + levels);
  };
  Pins rest = pins;
  std::vector<std::size_t> out;
  for (std::size_t axis = 0; axis < pins.size(); ++axis) {
    if (!pins[axis]) continue;
    rest[axis].reset();
    if (too_much(best(rest).cost)) continue;
    rest[axis] = pins[axis];
    out.push_back(axis);
  }
  return out;
}

std::vector<WayOut> Solver::ways_out(const Pins& pins, std::size_t most) {
  const Cost goal = best(Pins(pins.size())).cost;
  if (best(pins).cost <= goal) return {};
  std::vector<std::size_t> pinned;
  for (std::size_t axis = 0; axis < pins.size(); ++axis) {
    if (pins[axis]) pinned.push_back(axis);
  }
  std::vector<WayOut> out;
  const auto attempt = [&](const std::vector<std::size_t>& changed) {
    Candidates candidates = with(pins);
    for (const std::size_t axis : changed) {
      candidates[axis] = free_[axis];
      const auto at = std::find(free_[axis].begin(), free_[axis].end(), *pins[axis]);
      if (at == free_[axis].end()) continue;  // unknown: no value is near to it
      const auto away = [&](std::size_t value) {
        const auto place = std::find(free_[axis].begin(), free_[axis].end(), value);
        return place < at ? at - place : place - at;
      };
      std::stable_sort(candidates[axis].begin(), candidates[axis].end(),
                       [&](std::size_t a, std::size_t b) { return away(a) < away(b); });
    }
    Solution solution = search(candidates);
    if (solution.cost <= goal) out.push_back({changed, std::move(solution)});
  };
  for (std::size_t size = 1; size <= pinned.size() && out.empty(); ++size) {
    std::vector<bool> chosen(pinned.size(), false);
    std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(size), true);
    do {
      std::vector<std::size_t> changed;
      for (std::size_t i = 0; i < pinned.size(); ++i) {
        if (chosen[i]) changed.push_back(pinned[i]);
      }
      attempt(changed);
    } while (out.size() < most && std::prev_permutation(chosen.begin(), chosen.end()));
  }
  return out;
}

}  // namespace gpuctl::versions
