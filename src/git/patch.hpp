// Differences of files as text.
#pragma once

#include <optional>
#include <string>

namespace gpuctl::git {

/// The change of a file as a patch that `git apply` takes, with three lines around each change;
/// nothing: it is absent. Empty when both are the same, or when there is no memory for it.
std::string patch(const std::string& path, const std::optional<std::string>& before,
                  const std::optional<std::string>& after);

}  // namespace gpuctl::git
