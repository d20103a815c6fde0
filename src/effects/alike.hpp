// Clusters to which the same happens, for plans of many.
#pragma once

#include <cstddef>
#include <vector>

#include "effects/report.hpp"

namespace gpuctl::effects {

/// Puts clusters together whose changes differ in nothing but the clusters' own names
/// (`ClusterChange::own_names`): lists of indexes into `changes`, each in their order, and ordered
/// by the first of each.
std::vector<std::vector<std::size_t>> alike(const std::vector<ClusterChange>& changes);

}  // namespace gpuctl::effects
