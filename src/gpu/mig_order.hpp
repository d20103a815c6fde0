// MIG instances that are created one after the other, each where the driver puts it.
#pragma once

#include <string>
#include <vector>

#include "gpu/mig.hpp"

namespace gpuctl::gpu {

struct MigOrder {
  /// Every instance finds a place, whichever of the free ones the driver takes for those before.
  bool always = false;
  /// There are places with which all of them fit: those of `starts`, one an instance.
  bool possible = false;
  std::vector<int> starts;
  /// When not `always`: how it can go wrong. `stuck` finds no place after these have theirs.
  std::vector<MigInstance> before;
  std::string stuck;
};

/// Profile names in the order of their creation, on an empty GPU. Which of the allowed places a
/// driver takes is not documented, so all are tried. Names must be profiles of the class.
MigOrder in_order(const MigClass& gpu, const std::vector<std::string>& order);

/// An order of a placeable layout in which it always fits, larger instances first where possible;
/// empty when there is none.
std::vector<std::string> safe_order(const MigClass& gpu, const MigLayout& layout);

}  // namespace gpuctl::gpu
