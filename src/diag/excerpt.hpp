// One source line cut to a width, with the place of a mark under it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuctl::diag {

/// A part of a line as it is shown, and which of its bytes that is.
struct Excerpt {
  std::string shown;
  std::size_t begin = 0;  // byte range of the line
  std::size_t end = 0;
  std::size_t lead = 0;  // columns of "..." in front
};

/// Cuts `line` to at most `width` columns around the byte `focus`.
Excerpt cut_line(std::string_view line, std::size_t focus, std::size_t width);

/// Column (from 0) in `excerpt.shown` of the byte `offset` of `line`.
std::size_t column_of(const Excerpt& excerpt, std::string_view line, std::size_t offset);

}  // namespace gpuctl::diag
