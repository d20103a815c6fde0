// What a diagnostic echoes of the input is cut here, and only here.
#pragma once

#include <string>
#include <string_view>

namespace gpuctl::diag {

/// Longest value in backticks that is shown whole, in bytes.
inline constexpr std::size_t kMostQuotedBytes = 400;
/// Longest text of a diagnostic, in bytes.
inline constexpr std::size_t kMostTextBytes = 8000;

/// Longest value that a diagnostic names as found.
inline constexpr std::size_t kMostFoundBytes = 1000;

/// `text` with values in backticks that are too long, and the whole if that is too long, cut at the
/// end of a character; "..." and the length in bytes stand for what is left out.
std::string shorten(std::string_view text, std::size_t most = kMostTextBytes);

}  // namespace gpuctl::diag
