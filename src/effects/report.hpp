// What a plan says: for people on a terminal, for programs, and for a pull request.
#pragma once

#include <string>
#include <vector>

#include "effects/assessment.hpp"

namespace gpuctl::effects {

/// A cluster of a plan.
struct ClusterChange {
  std::string cluster;  // "stage/name"
  std::string files;    // "3 created, 1 updated"; "no change"
  bool changed = false;
  bool first = false;  // nothing of it is in Git yet, so that nothing runs
  /// What it has in common with no other cluster: its name, and facts that say which one it is.
  std::vector<std::string> own_names;
  std::string choices;  // that move, a line each
  Assessment assessment;
};

/// "3", or "2 to 6" when an autoscaler decides.
std::string written(const Count& count);

/// How bad it is and how it happens: "machines-deleted, with local data", "gpu-pods, latent".
std::string class_of(const Finding& finding);

/// The nodes and GPUs it is about: "5 nodes with 40 GPUs of pool `a`"; empty when it is about none.
std::string extent_of(const Finding& finding);

/// "Remove a pool", "Remove a pool (this commit is step 1 of 3)".
std::string title_of(const Way& way);

/// A step, from 1, with who does it: "this commit: ...", "by hand: ...".
std::string step_text(const Way& way, std::size_t step);

/// One line: "machines-deleted", "none by itself; when somebody approves: machines-deleted".
std::string headline(const ClusterChange& change);

/// Worst first, in words; lines of 80 columns at most where words allow it. Ends with a line feed.
/// `others` are clusters to which the same happens.
std::string text(const ClusterChange& change, const std::vector<std::string>& others = {});

/// All clusters of a plan: those to which the same happens together, and how many there are of each
/// when there is more than one.
std::string text(const std::vector<ClusterChange>& changes);

/// The same for programs, as a cluster of `docs/results.schema.json`.
yaml::Node json(const ClusterChange& change, yaml::Arena& arena);

/// All clusters as a comment of a pull request: counts first, details folded, and at its beginning
/// a hidden line by which a later comment finds this one. Shorter than what forges take (60,000
/// bytes): details that do not fit are left out, and that is said.
std::string markdown(const std::vector<ClusterChange>& changes);

}  // namespace gpuctl::effects
