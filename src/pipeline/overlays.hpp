// Knowledge of a user's own, laid over what is built in.
#pragma once

#include <string>
#include <vector>

#include "catalog/library.hpp"

namespace gpuctl::pipeline {

/// The `.yaml` files below two directories, as `providers/...` and `templates/...`; empty names are
/// left out. What cannot be read, and what is far too much to be knowledge, is GPU0002.
std::vector<catalog::Overlay> read_overlays(const std::string& providers,
                                            const std::string& templates, diag::Sink& sink);

}  // namespace gpuctl::pipeline
