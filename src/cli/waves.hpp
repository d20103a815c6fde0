// The waves of a stage: parts that change one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/planned.hpp"

namespace gpuctl::cli {

/// What stands between a commit and a wave.
struct WaveGate {
  std::string cluster;  // "stage/name"
  WavePlace place;
  bool changes = false;               // a commit would change it
  std::optional<std::int64_t> since;  // seconds from its last change until now; absent: not known
};

/// Reports clusters that a commit would change before their time: before a wave in front of theirs
/// has nothing left to change (GPU0834), or before its time is over (GPU0835). `gates` has all
/// clusters of these stages that have a commit, whether they are in the commit or not.
void check_waves(const std::vector<WaveGate>& gates, diag::Sink& sink);

/// Of the clusters of blueprints ("stage/name") those that a run would change, or that it cannot
/// make, in their order. One without a commit is none: nothing of it runs.
std::vector<std::string> pending_of(const std::vector<std::string>& blueprints,
                                    const Request& request, const Base& base,
                                    const ApplyOptions& options, Knowledge& knowledge,
                                    const Report& report);

}  // namespace gpuctl::cli
