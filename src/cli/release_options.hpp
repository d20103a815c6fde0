// Options that name the release of those who read documents: which there are is knowledge.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cli/command.hpp"

namespace gpuctl::cli {

/// Releases as the command line gives them, by option: {"x-version": "1.2"}; empty when not given.
using ReleaseOptions = std::map<std::string, std::string>;

/// Adds an option for each kind of release, as soon as the command is used.
std::shared_ptr<ReleaseOptions> add_release_options(Options& command, const std::string& help);

/// Those that were given. An unknown release is a usage error: shown, and nothing.
std::optional<ReleaseOptions> given_releases(const ReleaseOptions& options, Knowledge& knowledge,
                                             Report& report);

}  // namespace gpuctl::cli
