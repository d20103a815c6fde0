// Loads the libraries of this folder when the network is first asked.
#pragma once

#include <optional>
#include <string>

namespace gpuctl::net {

/// Loads c-ares, libcurl and libssl, and prepares them for several threads; nothing to do at later
/// calls. Thread-safe. Says which library cannot be loaded and why; then nothing else of this
/// folder may be called.
std::optional<std::string> load_libraries();

}  // namespace gpuctl::net
