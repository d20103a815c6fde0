// How many GPUs a demand for MIG instances takes, and how each of them is cut.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/mig.hpp"

namespace gpuctl::gpu {

/// Profile name to number of instances, over all GPUs.
using MigDemand = std::map<std::string, std::int64_t>;

/// GPUs with the same layout.
struct MigShare {
  MigLayout layout;
  std::int64_t gpus = 0;
  friend bool operator==(const MigShare&, const MigShare&) = default;
};

struct MigPlan {
  bool ok = false;
  std::string reason;            // why not ok: "has no profile `9g.1gb`"
  std::vector<MigShare> shares;  // most GPUs first, then by layout; together they are the demand
  std::int64_t gpus = 0;
  std::int64_t at_least = 0;  // no plan takes fewer
  /// True when no plan with as many GPUs loses less, compute slices first, then units.
  bool least_lost = false;
  std::int64_t lost_compute = 0;  // slices that no instance can use any more
  std::int64_t lost_memory = 0;   // units of that kind
  bool optimal() const { return gpus == at_least; }
};

/// Most instances of a demand.
inline constexpr std::int64_t kMostDemand = 10'000'000;

/// The smallest profile that has what is asked for: a name of a profile as it is, at least so much
/// memory ("10gb") or so many compute slices ("2g"), or both ("2g.10gb" where no profile has that
/// name). Profiles with attributes, such as media extensions, are only taken by name. Empty when
/// the GPU has none.
std::string profile_for(const MigClass& gpu, const std::string& wanted);

/// The fewest GPUs for the demand, and of such plans the one that loses least. Small demands are
/// searched through; for large ones the bound comes from the linear relaxation, checked in whole
/// numbers, and most GPUs are taken from its solution. Counts of 0 do not matter.
MigPlan plan(const MigClass& gpu, const MigDemand& demand);

}  // namespace gpuctl::gpu
