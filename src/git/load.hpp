// Loads libgit2 when Git is first needed.
#pragma once

namespace gpuctl::git {

/// Loads libgit2 and finds every function that this program calls; nothing to do in a build that
/// links it. To be called once, before the first call. Throws std::runtime_error when the library
/// is not there or too old: an incomplete installation.
void load_library();

}  // namespace gpuctl::git
