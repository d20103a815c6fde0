// What `apply` and its kin say of their plans to programs.
#pragma once

#include <vector>

#include "cli/batch.hpp"
#include "cli/planned.hpp"

namespace gpuctl::cli {

/// Records the clusters with their files and effects, and the worst of these; in the form `diff`
/// their patches instead. `present` tells how many files a cluster has whose plan was not made
/// because nothing has changed. Plans with errors are left out.
void record_plans(const std::vector<Planned>& plans, const std::string& form,
                  const std::function<std::size_t(const std::string& directory)>& present,
                  ResultDocument& result);

}  // namespace gpuctl::cli
