// Files of documents that others wrote.
#pragma once

#include <optional>
#include <string>

#include "pipeline/knowledge.hpp"
#include "pipeline/request.hpp"
#include "yaml/context.hpp"

namespace gpuctl::pipeline {

/// Checks the documents of a file, each as its reader would, and with --crds against its published
/// schema; gives how many there are. What no knowledge describes is a note GPU0621. Nothing when
/// the file is a blueprint, or no Kubernetes objects at all: then nothing was reported.
std::optional<std::size_t> check_foreign(const std::string& name, const std::string& text,
                                         const Request& request, Knowledge& knowledge,
                                         yaml::Context context);

}  // namespace gpuctl::pipeline
