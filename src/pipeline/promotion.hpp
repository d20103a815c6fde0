// Releases that go from the clusters of one stage to those of another.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/knowledge.hpp"
#include "pipeline/request.hpp"
#include "plan/lock.hpp"

namespace gpuctl::pipeline {

/// Whether the choice filed under `path` of a lock is carried from stage to stage: a release that
/// was chosen among those that go together, or a row of a derivation with `promote: true`.
bool is_promoted(const Compiled& compiled, const std::string& path);

struct Adopted {
  yaml::Node choices;                       // by path, as derive::Earlier has them
  std::map<std::string, std::string> from;  // path -> "stage/name"
};

/// What the locks of `clusters` ("stage/name") hold that is_promoted(), for a cluster of the same
/// platform; clusters of others are passed over. Nothing after a diagnostic: a cluster without a
/// lock (GPU0830), none of this platform (GPU0831), two that differ (GPU0832). Versions that
/// blueprints name stay; where they differ from those of `own`, the lock of the cluster itself or
/// nullptr, notes say so (GPU0836).
std::optional<Adopted> releases_of(const std::vector<std::string>& clusters, const plan::Lock* own,
                                   const Compiled& compiled, const Request& request,
                                   const blueprint::Blueprint& blueprint, yaml::Context context);

}  // namespace gpuctl::pipeline
