#include "gpu/mig.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace gpuctl::gpu {
namespace {

using Counts = std::vector<int>;  // by index of profile

// Steps one question may take; real classes need some thousand, this ends it on a hostile one.
constexpr std::size_t kMostSteps = 500'000;
constexpr std::size_t kMostNearest = 3;

std::uint64_t mask_of(int start, int size) {
  const std::uint64_t ones =
      size >= kMostUnits ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
  return ones << start;
}

struct Spot {
  std::size_t profile;
  int start;
};

// Walks the units from left to right; at each free one it either starts an instance or leaves the
// unit empty, so that every arrangement comes up exactly once.
class Sweep {
 public:
  /// On top of `placed` on the units `occupied`, up to `left[i]` instances of profile i. Counts its
  /// steps in `steps`, which several sweeps share.
  Sweep(const MigClass& gpu, const Counts& placed, Counts left, std::uint64_t occupied,
        std::size_t& steps)
      : gpu_(gpu),
        left_(std::move(left)),
        slices_(gpu.slices),
        media_(gpu.media),
        occupied_(occupied),
        steps_(steps) {
    starting_.resize(static_cast<std::size_t>(gpu.units));
    for (std::size_t index = 0; index < gpu.profiles.size(); ++index) {
      const MigProfile& profile = gpu.profiles[index];
      slices_ -= placed[index] * profile.slices;
      for (const auto& [engine, count] : profile.media) use(engine, placed[index] * count);
      for (const int start : profile.starts) {
        starting_[static_cast<std::size_t>(start)].push_back(index);
      }
      if (profile.slices * dense_units_ > dense_slices_ * profile.units) {
        dense_slices_ = profile.slices;
        dense_units_ = profile.units;
      }
    }
    // Large ones first: a good filling is found early.
    for (std::vector<std::size_t>& here : starting_) {
      std::stable_sort(here.begin(), here.end(), [&](std::size_t a, std::size_t b) {
        return gpu.profiles[a].slices > gpu.profiles[b].slices;
      });
    }
  }

  /// Calls `found` for each way to place all of `left`, until it gives false.
  void arrangements(const std::function<bool(const std::vector<Spot>&)>& found) {
    int units = 0;
    for (std::size_t i = 0; i < left_.size(); ++i) units += left_[i] * gpu_.profiles[i].units;
    arrange(0, units, found);
  }

  /// Compute slices and units that stay unused at best, compared in this order.
  std::pair<int, int> best_filling() {
    std::pair best{slices_, free_from(0)};
    fill(0, 0, best);
    return best;
  }

  /// Profiles of which not a single instance more can be placed.
  int shut_out() const {
    int count = 0;
    for (std::size_t i = 0; i < gpu_.profiles.size(); ++i) {
      const std::vector<int>& starts = gpu_.profiles[i].starts;
      if (std::none_of(starts.begin(), starts.end(), [&](int start) { return fits(i, start); })) {
        ++count;
      }
    }
    return count;
  }

 private:
  void use(const std::string& engine, int count) {
    if (const auto available = media_.find(engine); available != media_.end()) {
      available->second -= count;
    }
  }

  int free_from(int unit) const {
    return unit == gpu_.units ? 0 : std::popcount(~occupied_ & mask_of(unit, gpu_.units - unit));
  }

  bool fits(std::size_t index, int start) const {
    const MigProfile& profile = gpu_.profiles[index];
    if (left_[index] <= 0 || profile.slices > slices_ ||
        (occupied_ & mask_of(start, profile.units)) != 0) {
      return false;
    }
    return std::all_of(profile.media.begin(), profile.media.end(), [&](const auto& engine) {
      const auto available = media_.find(engine.first);
      return available == media_.end() || available->second >= engine.second;
    });
  }

  // Takes (sign 1) or gives back (sign -1) what one instance needs.
  void take(std::size_t index, int start, int sign) {
    const MigProfile& profile = gpu_.profiles[index];
    left_[index] -= sign;
    slices_ -= sign * profile.slices;
    occupied_ ^= mask_of(start, profile.units);
    for (const auto& [engine, count] : profile.media) use(engine, sign * count);
  }

  // `needed` units are still to be placed. False to stop everything.
  bool arrange(int unit, int needed, const std::function<bool(const std::vector<Spot>&)>& found) {
    if (++steps_ > kMostSteps) return false;
    if (needed == 0) return found(spots_);
    if (free_from(unit) < needed) return true;
    for (const std::size_t index : starting_[static_cast<std::size_t>(unit)]) {
      if (!fits(index, unit)) continue;
      const int units = gpu_.profiles[index].units;
      take(index, unit, 1);
      spots_.push_back({index, unit});
      const bool more = arrange(unit + units, needed - units, found);
      spots_.pop_back();
      take(index, unit, -1);
      if (!more) return false;
    }
    return arrange(unit + 1, needed, found);
  }

  // `skipped` free units lie behind.
  void fill(int unit, int skipped, std::pair<int, int>& best) {
    if (++steps_ > kMostSteps) return;
    const int ahead = free_from(unit);
    best = std::min(best, std::pair{slices_, skipped + ahead});
    const int gain = ahead * dense_slices_ / dense_units_;
    if (ahead == 0 || std::pair{std::max(0, slices_ - gain), skipped} >= best) return;
    for (const std::size_t index : starting_[static_cast<std::size_t>(unit)]) {
      if (!fits(index, unit)) continue;
      take(index, unit, 1);
      fill(unit + gpu_.profiles[index].units, skipped, best);
      take(index, unit, -1);
    }
    const bool free = (occupied_ & mask_of(unit, 1)) == 0;
    fill(unit + 1, skipped + (free ? 1 : 0), best);
  }

  const MigClass& gpu_;
  Counts left_;
  int slices_;
  std::map<std::string, int> media_;
  std::uint64_t occupied_;
  std::size_t& steps_;
  std::vector<std::vector<std::size_t>> starting_;  // profiles by start
  std::vector<Spot> spots_;
  int dense_slices_ = 0;  // most compute slices a unit: dense_slices_ / dense_units_
  int dense_units_ = 1;
};

Counts most_of(const MigClass& gpu) {
  Counts most;
  for (const MigProfile& profile : gpu.profiles) most.push_back(profile.most);
  return most;
}

int total(const MigClass& gpu, const Counts& counts, int MigProfile::*field) {
  int sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) sum += counts[i] * gpu.profiles[i].*field;
  return sum;
}

MigLayout named(const MigClass& gpu, const Counts& counts) {
  MigLayout layout;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) layout[gpu.profiles[i].name] = counts[i];
  }
  return layout;
}

// What an arrangement leaves: the smaller the better.
struct Rest {
  int lost_compute = 0;
  int lost_memory = 0;
  int profiles_shut_out = 0;
  friend bool operator<(const Rest& a, const Rest& b) {
    return std::tie(a.lost_compute, a.lost_memory, a.profiles_shut_out) <
           std::tie(b.lost_compute, b.lost_memory, b.profiles_shut_out);
  }
};

// `counts` are placed on the units of `occupied`: the best that can be added to them.
Rest rest_of(const MigClass& gpu, const Counts& counts, std::uint64_t occupied,
             std::size_t& steps) {
  Counts left = most_of(gpu);
  for (std::size_t i = 0; i < counts.size(); ++i) left[i] -= counts[i];
  Sweep sweep(gpu, counts, std::move(left), occupied, steps);
  const auto [compute, memory] = sweep.best_filling();
  return {compute, memory, sweep.shut_out()};
}

std::string times(int count) {
  return std::to_string(count) + (count == 1 ? " time" : " times");
}

// The plain reasons, which need no search; "" when there is none.
std::string plain_reason(const MigClass& gpu, const Counts& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const MigProfile& profile = gpu.profiles[i];
    if (counts[i] > profile.most) {
      return "`" + profile.name + "` fits at most " + times(profile.most) + ", not " +
             std::to_string(counts[i]);
    }
  }
  // No overflow from here on: `most` is at most kMostUnits.
  const int compute = total(gpu, counts, &MigProfile::slices);
  if (compute > gpu.slices) {
    return "needs " + std::to_string(compute) + " of " + std::to_string(gpu.slices) +
           " compute slices";
  }
  const int memory = total(gpu, counts, &MigProfile::units);
  if (memory > gpu.units) {
    return "needs " + std::to_string(memory) + " of " + std::to_string(gpu.units) +
           " memory slices";
  }
  for (const auto& [engine, limit] : gpu.media) {
    int needed = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto use = gpu.profiles[i].media.find(engine);
      if (use != gpu.profiles[i].media.end()) needed += counts[i] * use->second;
    }
    if (needed > limit) {
      return "needs " + std::to_string(needed) + " of " + std::to_string(limit) + " `" + engine +
             "` engines";
    }
  }
  return "";
}

bool placeable(const MigClass& gpu, const Counts& counts, std::size_t& steps) {
  if (!plain_reason(gpu, counts).empty()) return false;
  bool found = false;
  Sweep sweep(gpu, Counts(counts.size(), 0), counts, 0, steps);
  sweep.arrangements([&](const std::vector<Spot>&) {
    found = true;
    return false;
  });
  return found;
}

// Placeable layouts with at most `limit[i]` instances of profile i. What is part of a placeable
// layout is placeable, so they are found by adding one instance at a time.
std::set<Counts> layouts_within(const MigClass& gpu, const Counts& limit, std::size_t& steps) {
  std::vector<Counts> open = {Counts(limit.size(), 0)};
  std::set<Counts> layouts(open.begin(), open.end());
  while (!open.empty() && steps <= kMostSteps) {
    const Counts layout = std::move(open.back());
    open.pop_back();
    for (std::size_t i = 0; i < layout.size(); ++i) {
      Counts more = layout;
      if (++more[i] > limit[i] || layouts.contains(more) || !placeable(gpu, more, steps)) continue;
      open.push_back(more);
      layouts.insert(std::move(more));
    }
  }
  return layouts;
}

std::vector<MigLayout> nearest_layouts(const MigClass& gpu, const Counts& wanted,
                                       std::size_t& steps) {
  // By instances kept, compute used, memory used (most first), then counts in profile order.
  std::set<std::tuple<int, int, int, Counts>> kept;
  for (const Counts& layout : layouts_within(gpu, wanted, steps)) {
    const int instances = std::accumulate(layout.begin(), layout.end(), 0);
    if (instances == 0) continue;
    Counts order = layout;
    for (int& count : order) count = -count;
    kept.emplace(-instances, -total(gpu, layout, &MigProfile::slices),
                 -total(gpu, layout, &MigProfile::units), std::move(order));
  }
  std::vector<MigLayout> layouts;
  for (const auto& [instances, compute, memory, order] : kept) {
    if (instances != std::get<0>(*kept.begin()) || layouts.size() == kMostNearest) break;
    Counts counts = order;
    for (int& count : counts) count = -count;
    layouts.push_back(named(gpu, counts));
  }
  return layouts;
}

// The counts of a layout in profile order; nothing, and why, when it is none of the class.
std::optional<Counts> counts_of(const MigClass& gpu, const MigLayout& layout, std::string& reason) {
  Counts counts(gpu.profiles.size(), 0);
  for (const auto& [name, count] : layout) {
    const auto found = std::find_if(
        gpu.profiles.begin(), gpu.profiles.end(),
        [&wanted = name](const MigProfile& profile) { return profile.name == wanted; });
    if (found == gpu.profiles.end()) {
      reason = no_profile(gpu, name);
      return std::nullopt;
    }
    if (count < 0) {
      reason = "the count of `" + name + "` is negative";
      return std::nullopt;
    }
    counts[static_cast<std::size_t>(found - gpu.profiles.begin())] = count;
  }
  return counts;
}

struct Arrangement {
  std::vector<Spot> spots;
  std::vector<int> starts;
  Rest rest;
};

// The best of all arrangements of these counts, if any was found in time.
std::optional<Arrangement> best_arrangement(const MigClass& gpu, const Counts& counts,
                                            std::size_t& steps) {
  std::optional<Arrangement> best;
  std::map<std::uint64_t, Rest> known;  // what is left depends on the units taken alone
  Sweep sweep(gpu, Counts(counts.size(), 0), counts, 0, steps);
  sweep.arrangements([&](const std::vector<Spot>& spots) {
    std::uint64_t occupied = 0;
    std::vector<int> starts;
    for (const Spot& spot : spots) {
      occupied |= mask_of(spot.start, gpu.profiles[spot.profile].units);
      starts.push_back(spot.start);
    }
    const auto [at, fresh] = known.try_emplace(occupied);
    if (fresh) at->second = rest_of(gpu, counts, occupied, steps);
    if (!best || std::tie(at->second, starts) < std::tie(best->rest, best->starts)) {
      best = Arrangement{spots, std::move(starts), at->second};
    }
    return true;
  });
  return best;
}

}  // namespace

MigPlacement place(const MigClass& gpu, const MigLayout& layout) {
  MigPlacement result;
  const std::optional<Counts> counts = counts_of(gpu, layout, result.reason);
  if (!counts) return result;
  result.reason = plain_reason(gpu, *counts);
  std::size_t steps = 0;
  std::optional<Arrangement> best;
  if (result.reason.empty()) {
    best = best_arrangement(gpu, *counts, steps);
    if (!best) {
      result.reason = steps <= kMostSteps
                          ? "no arrangement fits the places where profiles may start"
                          : "too many arrangements to try them all";
    }
  }
  if (!best) {
    steps = 0;
    result.nearest = nearest_layouts(gpu, *counts, steps);
    return result;
  }

  result.ok = true;
  int unused_compute = gpu.slices;
  int unused_memory = gpu.units;
  for (const Spot& spot : best->spots) {
    const MigProfile& profile = gpu.profiles[spot.profile];
    result.placements.push_back({profile.name, spot.start, profile.units});
    unused_compute -= profile.slices;
    unused_memory -= profile.units;
  }
  result.maximal = best->rest.profiles_shut_out == static_cast<int>(gpu.profiles.size());
  result.lost_compute = best->rest.lost_compute;
  result.lost_memory = best->rest.lost_memory;
  result.free_compute = unused_compute - best->rest.lost_compute;
  result.free_memory = unused_memory - best->rest.lost_memory;
  return result;
}

std::vector<MigOption> enumerate(const MigClass& gpu) {
  std::size_t steps = 0;
  const std::set<Counts> layouts = layouts_within(gpu, most_of(gpu), steps);
  std::vector<MigOption> options;
  for (const Counts& layout : layouts) {
    if (std::all_of(layout.begin(), layout.end(), [](int count) { return count == 0; })) continue;
    bool maximal = true;
    for (std::size_t i = 0; maximal && i < layout.size(); ++i) {
      Counts more = layout;
      ++more[i];
      maximal = !layouts.contains(more);
    }
    options.push_back({named(gpu, layout), maximal});
  }
  return options;
}

}  // namespace gpuctl::gpu
