// Files of documents that others wrote.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pipeline/knowledge.hpp"
#include "pipeline/request.hpp"
#include "yaml/context.hpp"
#include "yaml/read.hpp"

namespace gpuctl::pipeline {

/// True for a file that is, or may be, gpuctl's own.
bool is_own(std::string_view text);

/// What files of others may cost to read.
yaml::ReadLimits foreign_limits();

/// Checks the documents of a file, each as its reader would, and with --crds against its published
/// schema, beside those of `request.neighbours`; gives how many there are. What no knowledge
/// describes is a note GPU0621. Nothing when the file is a blueprint, or no Kubernetes objects at
/// all: then nothing was reported.
std::optional<std::size_t> check_foreign(const std::string& name, const std::string& text,
                                         const Request& request, Knowledge& knowledge,
                                         yaml::Context context);

}  // namespace gpuctl::pipeline
