#include "cli/mig_drawing.hpp"

#include <algorithm>
#include <vector>

namespace gpuctl::cli {

namespace {

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
  const std::vector<bool> usable = gpu::usable_units(gpu, placed);
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
