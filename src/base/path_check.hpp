// Which relative paths may be written, in a directory or in a Git tree.
#pragma once

#include <string>
#include <string_view>

namespace gpuctl::base {

inline constexpr std::size_t kMostPathBytes = 4000;
inline constexpr std::size_t kMostPathComponentBytes = 255;
inline constexpr std::size_t kMostPathComponents = 64;

/// Why `path` must not be written below a root, or "" when it may be: it is empty, absolute, has an
/// empty, `.` or `..` component, one that some file system takes for `.git` (any case, HFS+ ignored
/// code points, NTFS short name, trailing dots and spaces, streams), a backslash, control or
/// invisible characters, invalid UTF-8, or is too long or too deep. Phrase that follows the path:
/// "is absolute".
std::string unsafe_path_reason(std::string_view path);

}  // namespace gpuctl::base
