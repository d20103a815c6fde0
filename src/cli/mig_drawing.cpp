#include "cli/mig_drawing.hpp"

#include <algorithm>
#include <vector>

namespace gpuctl::cli {

namespace {

// Units that an instance more could use: the layout with it must still be placeable as it lies.
std::vector<bool> usable_units(const gpu::MigClass& gpu, const gpu::MigPlacement& placed) {
  std::vector<bool> taken(static_cast<std::size_t>(gpu.units), false);
  std::vector<bool> usable(taken.size(), false);
  gpu::MigLayout layout;
  for (const gpu::MigInstance& instance : placed.placements) {
    ++layout[instance.profile];
    for (int i = 0; i < instance.size; ++i) {
      taken[static_cast<std::size_t>(instance.start) + static_cast<std::size_t>(i)] = true;
    }
  }
  for (const gpu::MigProfile& profile : gpu.profiles) {
    gpu::MigLayout more = layout;
    ++more[profile.name];
    if (!gpu::place(gpu, more).ok) continue;
    for (const int start : profile.starts) {
      const auto first = taken.begin() + start;
      if (std::any_of(first, first + profile.units, [](bool unit) { return unit; })) continue;
      std::fill(usable.begin() + start, usable.begin() + start + profile.units, true);
    }
  }
  return usable;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::string draw_mig(const gpu::MigClass& gpu, const gpu::MigPlacement& placed) {
  // Each unit is as wide as the longest name needs, with its borders.
  std::size_t width = 3;
  for (const gpu::MigInstance& instance : placed.placements) {
    const auto size = static_cast<std::size_t>(instance.size);
    width = std::max(width, (instance.profile.size() + 1 + size) / size);
  }
  const std::vector<bool> usable = usable_units(gpu, placed);
  std::string numbers = "  ";
  std::string boxes = "  ";
  for (int unit = 0; unit < gpu.units; ++unit) {
    numbers += padded(" " + std::to_string(unit), width);
  }
  for (int unit = 0; unit < gpu.units;) {
    const auto found =
        std::find_if(placed.placements.begin(), placed.placements.end(),
                     [&](const gpu::MigInstance& instance) { return instance.start == unit; });
    if (found == placed.placements.end()) {
      boxes += padded(usable[static_cast<std::size_t>(unit)] ? "|." : "|x", width);
      ++unit;
      continue;
    }
    boxes += padded("|" + found->profile, width * static_cast<std::size_t>(found->size));
    unit += found->size;
  }
  while (numbers.ends_with(' ')) numbers.pop_back();
  return numbers + "\n" + boxes + "|\n";
}

}  // namespace gpuctl::cli
