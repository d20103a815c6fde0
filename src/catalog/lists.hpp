// Paths of rows that are about several lists at once: `large|small[].zones`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuctl::catalog {

/// The path for each of the lists that stand between `|` in one of its steps; a path without `|`
/// alone. "spec.large|small[].zones" gives "spec.large[].zones" and "spec.small[].zones".
std::vector<std::string> paths_of(std::string_view path);

}  // namespace gpuctl::catalog
