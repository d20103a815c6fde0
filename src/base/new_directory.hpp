// Whole directories of new files, which get their final name when all is written.
#pragma once

#include <fcntl.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"

namespace gpuctl::base {

/// How directories below one of ours are opened: no link in place of one is followed.
inline constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

/// Makes the directory `name` in the open directory `parent`, which must not have it yet, and
/// writes `files` (path below it -> content) with directories 0755 and files 0644 less the umask.
/// Since everything is new and the name known to nobody, no link can stand in the way. An error
/// names the path below the new directory; what was written by then stays for remove_directory().
std::optional<FileError> write_directory(int parent, const std::string& name,
                                         const std::map<std::string, std::string>& files);

/// Names in the open directory `descriptor`, without `.` and `..`; none when it cannot be read.
std::vector<std::string> names_in(int descriptor);

/// Removes a directory and all below it, as far as that is possible, without following links.
void remove_directory(int parent, const std::string& name);

}  // namespace gpuctl::base
