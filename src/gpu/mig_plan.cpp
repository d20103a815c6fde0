#include "gpu/mig_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/text.hpp"

namespace gpuctl::gpu {
namespace {

using Amounts = std::vector<std::int64_t>;  // by position of a wanted profile

// A way to cut one GPU, as far as the demand is concerned.
struct Pattern {
  Amounts counts;
  int lost_compute = 0;
  int lost_memory = 0;
  bool maximal = false;  // no instance of a wanted profile can be added
};

// GPUs first, then what is lost: one number that compares like the three.
struct Cost {
  std::int64_t gpus = 0;
  std::int64_t compute = 0;
  std::int64_t memory = 0;
  friend auto operator<=>(const Cost&, const Cost&) = default;
  Cost operator+(const Cost& other) const {
    return {gpus + other.gpus, compute + other.compute, memory + other.memory};
  }
};

Cost cost_of(const Pattern& pattern) {
  return {1, pattern.lost_compute, pattern.lost_memory};
}

bool within(const Amounts& counts, const Amounts& limit) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > limit[i]) return false;
  }
  return true;
}

bool is_zero(const Amounts& counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count == 0; });
}

struct HashAmounts {
  std::size_t operator()(const Amounts& counts) const {
    std::size_t hash = 1469598103934665603U;
    for (const std::int64_t count : counts) {
      hash = (hash ^ static_cast<std::size_t>(count)) * 1099511628211U;
    }
    return hash;
  }
};

// All placeable combinations of the wanted profiles, the empty one left out.
std::vector<Pattern> patterns_of(const MigClass& gpu, const std::vector<std::string>& wanted) {
  MigClass narrowed = gpu;
  std::erase_if(narrowed.profiles, [&](const MigProfile& profile) {
    return std::find(wanted.begin(), wanted.end(), profile.name) == wanted.end();
  });
  std::vector<Pattern> out;
  for (const MigOption& option : enumerate(narrowed)) {
    Pattern pattern;
    for (const std::string& name : wanted) {
      const auto found = option.layout.find(name);
      pattern.counts.push_back(found == option.layout.end() ? 0 : found->second);
    }
    // Lost is what none of the class's profiles can use, wanted or not.
    const MigPlacement placed = place(gpu, option.layout);
    pattern.lost_compute = placed.lost_compute;
    pattern.lost_memory = placed.lost_memory;
    pattern.maximal = option.maximal;
    out.push_back(std::move(pattern));
  }
  return out;
}

// The best exact cover of small amounts, by remembering those met before.
class Search {
 public:
  explicit Search(const std::vector<Pattern>& patterns) : patterns_(patterns) {}

  // The pattern to begin with, for each amount on the best way; nothing when it takes too long.
  std::optional<Cost> best(const Amounts& wanted) {
    if (is_zero(wanted)) return Cost{};
    const auto known = known_.find(wanted);
    if (known != known_.end()) return known->second.cost;
    if (known_.size() >= kMostStates) return std::nullopt;
    // Some GPU of every cover holds the first kind that is still wanted.
    const auto first = static_cast<std::size_t>(
        std::find_if(wanted.begin(), wanted.end(), [](std::int64_t count) { return count > 0; }) -
        wanted.begin());
    std::optional<Choice> chosen;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      const Pattern& pattern = patterns_[i];
      if (pattern.counts[first] == 0 || !within(pattern.counts, wanted)) continue;
      Amounts rest = wanted;
      for (std::size_t k = 0; k < rest.size(); ++k) rest[k] -= pattern.counts[k];
      const std::optional<Cost> after = best(rest);
      if (!after) return std::nullopt;
      const Cost cost = *after + cost_of(pattern);
      if (!chosen || cost < chosen->cost) chosen = Choice{cost, i};
    }
    known_.emplace(wanted, *chosen);
    return chosen->cost;
  }

  // Adds the patterns of the best cover, which best() has found.
  void take(Amounts wanted, Amounts& gpus) const {
    while (!is_zero(wanted)) {
      const std::size_t pattern = known_.at(wanted).pattern;
      ++gpus[pattern];
      for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k] -= patterns_[pattern].counts[k];
    }
  }

 private:
  static constexpr std::size_t kMostStates = 40'000;
  struct Choice {
    Cost cost;
    std::size_t pattern = 0;
  };
  const std::vector<Pattern>& patterns_;
  std::unordered_map<Amounts, Choice, HashAmounts> known_;
};

// The linear relaxation: the least sum of GPUs, in fractions, that covers the demand. Solved from
// its dual (most worth of the demand when no pattern is worth more than 1), which needs no first
// phase; the duals of that are the fractions.
class Relaxation {
 public:
  Relaxation(const std::vector<Pattern>& patterns, const Amounts& wanted)
      : patterns_(patterns), wanted_(wanted), kinds_(wanted.size()) {
    rows_.assign(patterns.size(), std::vector<double>(kinds_ + 1));
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      for (std::size_t k = 0; k < kinds_; ++k) {
        rows_[i][k] = static_cast<double>(patterns[i].counts[k]);
      }
      rows_[i][kinds_] = 1;
    }
    objective_.assign(kinds_ + 1, 0);
    for (std::size_t k = 0; k < kinds_; ++k) objective_[k] = static_cast<double>(wanted[k]);
    for (std::size_t k = 0; k < kinds_; ++k) column_.push_back(k);
    for (std::size_t i = 0; i < patterns.size(); ++i) basic_.push_back(kinds_ + i);
    constexpr int kMostPivots = 2'000;
    for (int i = 0; i < kMostPivots && pivot(i); ++i) {
    }
  }

  // GPUs of each pattern, in fractions.
  std::vector<double> fractions() const {
    std::vector<double> out(patterns_.size(), 0);
    for (std::size_t k = 0; k < kinds_; ++k) {
      if (column_[k] >= kinds_) out[column_[k] - kinds_] = std::max(0.0, -objective_[k]);
    }
    return out;
  }

  // No cover has fewer GPUs. The worths are rounded and the sum is done in whole numbers, so that
  // no error of floating point can make it too high.
  std::int64_t bound() const {
    constexpr double kScale = 1 << 20;
    Amounts worth(kinds_, 0);
    for (std::size_t i = 0; i < basic_.size(); ++i) {
      if (basic_[i] < kinds_) {
        worth[basic_[i]] = static_cast<std::int64_t>(std::floor(rows_[i][kinds_] * kScale + 0.5));
      }
    }
    std::int64_t most = 1;
    for (const Pattern& pattern : patterns_) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < kinds_; ++k) sum += worth[k] * pattern.counts[k];
      most = std::max(most, sum);
    }
    std::int64_t total = 0;
    for (std::size_t k = 0; k < kinds_; ++k) total += worth[k] * wanted_[k];
    return (total + most - 1) / most;
  }

 private:
  // One step of the simplex method; false at the end. After a while it takes the first column that
  // helps instead of the best one, which cannot go in circles.
  bool pivot(int round) {
    constexpr double kNothing = 1e-9;
    constexpr int kGreedyRounds = 500;
    std::size_t entering = kinds_;
    for (std::size_t k = 0; k < kinds_; ++k) {
      if (objective_[k] <= kNothing) continue;
      if (entering == kinds_ || (round < kGreedyRounds ? objective_[k] > objective_[entering]
                                                       : column_[k] < column_[entering])) {
        entering = k;
      }
    }
    if (entering == kinds_) return false;
    std::size_t leaving = rows_.size();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i][entering] <= kNothing) continue;
      if (leaving == rows_.size()) {
        leaving = i;
        continue;
      }
      const double here = rows_[i][kinds_] * rows_[leaving][entering];
      const double there = rows_[leaving][kinds_] * rows_[i][entering];
      if (here < there || (here == there && basic_[i] < basic_[leaving])) leaving = i;
    }
    if (leaving == rows_.size()) return false;
    std::vector<double>& row = rows_[leaving];
    const double by = row[entering];
    for (double& value : row) value /= by;
    row[entering] = 1 / by;
    const auto eliminate = [&](std::vector<double>& other) {
      const double factor = other[entering];
      if (factor == 0) return;
      other[entering] = 0;
      for (std::size_t k = 0; k < other.size(); ++k) other[k] -= factor * row[k];
    };
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (i != leaving) eliminate(rows_[i]);
    }
    eliminate(objective_);
    std::swap(column_[entering], basic_[leaving]);
    return true;
  }

  const std::vector<Pattern>& patterns_;
  const Amounts& wanted_;
  std::size_t kinds_;
  std::vector<std::vector<double>> rows_;  // of the tableau, with the right side at the end
  std::vector<double> objective_;
  std::vector<std::size_t> column_;  // variable of each column: kinds, then slacks of patterns
  std::vector<std::size_t> basic_;   // variable of each row
};

// A cover of any amounts: the largest patterns first, as often as they fit.
void fill(const std::vector<Pattern>& patterns, Amounts wanted, Amounts& gpus) {
  std::vector<std::size_t> order(patterns.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto units = [&](std::size_t i) {
    return std::accumulate(patterns[i].counts.begin(), patterns[i].counts.end(), std::int64_t{0});
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (patterns[a].maximal != patterns[b].maximal) return patterns[a].maximal;
    return units(a) > units(b);
  });
  for (const std::size_t i : order) {
    std::int64_t times = std::numeric_limits<std::int64_t>::max();
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (patterns[i].counts[k] > 0) times = std::min(times, wanted[k] / patterns[i].counts[k]);
    }
    gpus[i] += times;
    for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k] -= times * patterns[i].counts[k];
  }
}

Cost total_of(const std::vector<Pattern>& patterns, const Amounts& gpus) {
  Cost total;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    total = total +
            Cost{gpus[i], gpus[i] * patterns[i].lost_compute, gpus[i] * patterns[i].lost_memory};
  }
  return total;
}

// Whole GPUs of the relaxation, a few less, and the best cover of what is left of the demand.
Amounts rounded(const std::vector<Pattern>& patterns, const Amounts& wanted,
                const Relaxation& relaxation) {
  std::optional<Amounts> best;
  const std::vector<double> fractions = relaxation.fractions();
  constexpr std::int64_t kMostLess = 2;
  for (std::int64_t less = 0; less <= kMostLess; ++less) {
    Amounts gpus(patterns.size(), 0);
    Amounts rest = wanted;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      std::int64_t times = std::max<std::int64_t>(
          0, static_cast<std::int64_t>(std::floor(fractions[i] + 1e-6)) - less);
      for (std::size_t k = 0; k < rest.size(); ++k) {
        if (patterns[i].counts[k] > 0) times = std::min(times, rest[k] / patterns[i].counts[k]);
      }
      gpus[i] = times;
      for (std::size_t k = 0; k < rest.size(); ++k) rest[k] -= times * patterns[i].counts[k];
    }
    Search search(patterns);
    if (search.best(rest)) {
      search.take(rest, gpus);
    } else {
      fill(patterns, rest, gpus);
    }
    if (!best || total_of(patterns, gpus) < total_of(patterns, *best)) best = std::move(gpus);
  }
  return *best;
}

// "2g.10gb" -> 2 and 10, "10gb" -> 0 and 10, "2g" -> 2 and 0; nothing for other texts.
std::optional<std::pair<int, int>> size_of(std::string_view text) {
  std::pair<int, int> out{0, 0};
  const auto number = [](std::string_view digits, int& to) {
    constexpr std::size_t kMostDigits = 5;
    if (digits.empty() || digits.size() > kMostDigits) return false;
    to = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return false;
      to = to * 10 + (c - '0');
    }
    return true;
  };
  for (const std::string_view part : base::split(text, '.')) {
    if (part.ends_with("gb")) {
      if (out.second != 0 || !number(part.substr(0, part.size() - 2), out.second)) return {};
    } else if (!part.ends_with('g') || out.first != 0 ||
               !number(part.substr(0, part.size() - 1), out.first)) {
      return {};
    }
  }
  return out;
}

}  // namespace

std::string profile_for(const MigClass& gpu, const std::string& wanted) {
  const MigProfile* best = nullptr;
  const auto least = size_of(wanted);
  for (const MigProfile& profile : gpu.profiles) {
    if (profile.name == wanted) return wanted;
    const auto has = size_of(profile.name);
    if (!least || !has || has->first < least->first || has->second < least->second) continue;
    if (best == nullptr ||
        std::pair(profile.units, profile.slices) < std::pair(best->units, best->slices)) {
      best = &profile;
    }
  }
  return best == nullptr ? std::string() : best->name;
}

namespace {

// What is wrong with a demand, or "".
std::string fault_of(const MigClass& gpu, const MigDemand& demand) {
  const std::vector<std::string> names = list(gpu);
  std::string fault;
  std::int64_t sum = 0;
  for (const auto& [name, count] : demand) {
    if (count < 0) fault = "the number of `" + name + "` is negative";
    if (std::find(names.begin(), names.end(), name) == names.end()) fault = no_profile(gpu, name);
    sum += std::clamp<std::int64_t>(count, 0, kMostDemand + 1);
  }
  if (!fault.empty() || sum <= kMostDemand) return fault;
  return "more than " + std::to_string(kMostDemand) + " instances";
}

}  // namespace

MigPlan plan(const MigClass& gpu, const MigDemand& demand) {
  MigPlan out;
  out.reason = fault_of(gpu, demand);
  if (!out.reason.empty()) return out;
  out.ok = true;
  out.least_lost = true;
  std::vector<std::string> wanted;
  Amounts amounts;
  for (const MigProfile& profile : gpu.profiles) {
    const auto found = demand.find(profile.name);
    if (found == demand.end() || found->second == 0) continue;
    wanted.push_back(profile.name);
    amounts.push_back(found->second);
  }
  if (wanted.empty()) return out;

  const std::vector<Pattern> patterns = patterns_of(gpu, wanted);
  Amounts gpus(patterns.size(), 0);
  Search search(patterns);
  const std::optional<Cost> exact = search.best(amounts);
  if (exact) {
    search.take(amounts, gpus);
    out.at_least = exact->gpus;
  } else {
    const Relaxation relaxation(patterns, amounts);
    gpus = rounded(patterns, amounts, relaxation);
    out.at_least = relaxation.bound();
    out.least_lost = false;
  }
  const Cost total = total_of(patterns, gpus);
  out.gpus = total.gpus;
  out.lost_compute = total.compute;
  out.lost_memory = total.memory;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (gpus[i] == 0) continue;
    MigShare share;
    share.gpus = gpus[i];
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (patterns[i].counts[k] != 0) {
        share.layout[wanted[k]] = static_cast<int>(patterns[i].counts[k]);
      }
    }
    out.shares.push_back(std::move(share));
  }
  std::sort(out.shares.begin(), out.shares.end(), [](const MigShare& a, const MigShare& b) {
    return a.gpus != b.gpus ? a.gpus > b.gpus : a.layout < b.layout;
  });
  return out;
}

}  // namespace gpuctl::gpu
