// Text in columns, for listings on a terminal.
#pragma once

#include <string>
#include <vector>

namespace gpuctl::cli {

/// Columns of a terminal that everybody has.
inline constexpr std::size_t kColumns = 80;

/// Lines of cells as text: columns two spaces apart, nothing behind the last cell of a line. All
/// lines have as many cells as the first. Where a line would be wider than `most` (0: no limit),
/// the widest cells go on in lines below, broken at spaces and after commas. Where that is not
/// enough nothing is broken.
std::string in_columns(const std::vector<std::vector<std::string>>& lines,
                       std::size_t most = kColumns);

/// The words of `text`, which spaces and line feeds part, in lines of at most `width` columns, each
/// behind `indent`; a longer word has a line of its own.
std::string wrapped(const std::string& text, std::size_t width, const std::string& indent);

}  // namespace gpuctl::cli
