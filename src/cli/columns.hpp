// Text in columns, for listings on a terminal.
#pragma once

#include <string>
#include <vector>

namespace gpuctl::cli {

/// Lines of cells as text: columns two spaces apart, nothing behind the last cell of a line. All
/// lines have as many cells as the first.
std::string in_columns(const std::vector<std::vector<std::string>>& lines);

}  // namespace gpuctl::cli
