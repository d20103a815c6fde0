// What clusters cost, for programs: rows and trees.
#pragma once

#include <vector>

#include "cli/listing.hpp"
#include "cost/estimate.hpp"

namespace gpuctl::cli {

/// A listing with a row for each part of each cluster.
Listing cost_rows(const std::vector<cost::Estimate>& estimates, const cost::Hours& hours,
                  yaml::Arena& arena);

/// Fields of a result: `currency`, `hours`, `clusters`, `month`.
yaml::Node cost_tree(const std::vector<cost::Estimate>& estimates, const cost::Hours& hours,
                     yaml::Arena& arena);

/// Figures of a month, as `costMonth` of a result.
yaml::Node figures_tree(const cost::Figures& figures, const cost::Hours& hours, yaml::Arena& arena);

/// Two sets of clusters, part by part where they differ, and in sum.
Listing comparison(const std::vector<cost::Estimate>& these,
                   const std::vector<cost::Estimate>& others, const cost::Hours& hours,
                   yaml::Arena& arena);

}  // namespace gpuctl::cli
