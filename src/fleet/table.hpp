// Tables of clusters: a row each.
#pragma once

#include <optional>

#include "yaml/context.hpp"
#include "yaml/read.hpp"

namespace gpuctl::fleet {

/// The most rows and columns of a table, and bytes in a cell.
inline constexpr std::size_t kMostRows = 100'000;
inline constexpr std::size_t kMostColumns = 256;
inline constexpr std::size_t kMostCellBytes = std::size_t{64} * 1024;

/// Reads CSV as RFC 4180 has it: cells divided by commas, in quotes where they hold commas, quotes
/// or line breaks, lines ended by LF or CRLF. The first line has the names of the columns. Gives a
/// list of maps whose values are texts with their places. Empty lines are left out, a byte order
/// mark is skipped. Nothing after GPU0813.
std::optional<yaml::Node> read_csv(diag::FileId file, yaml::Context context);

/// The rows of a table by the ending of its name: `.csv`, otherwise YAML within limits, a list of
/// maps.
std::optional<yaml::Node> read_table(diag::FileId file, const yaml::ReadLimits& limits,
                                     yaml::Context context);

}  // namespace gpuctl::fleet
