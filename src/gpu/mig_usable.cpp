#include <algorithm>

#include "gpu/mig.hpp"

namespace gpuctl::gpu {

std::vector<bool> usable_units(const MigClass& gpu, const MigPlacement& placed) {
  std::vector<bool> taken(static_cast<std::size_t>(gpu.units), false);
  std::vector<bool> usable(taken.size(), false);
  MigLayout layout;
  for (const MigInstance& instance : placed.placements) {
    ++layout[instance.profile];
    for (int i = 0; i < instance.size; ++i) {
      taken[static_cast<std::size_t>(instance.start) + static_cast<std::size_t>(i)] = true;
    }
  }
  for (const MigProfile& profile : gpu.profiles) {
    MigLayout more = layout;
    ++more[profile.name];
    if (!place(gpu, more).ok) continue;
    for (const int start : profile.starts) {
      const auto first = taken.begin() + start;
      if (std::any_of(first, first + profile.units, [](bool unit) { return unit; })) continue;
      std::fill(usable.begin() + start, usable.begin() + start + profile.units, true);
    }
  }
  return usable;
}

}  // namespace gpuctl::gpu
