// The plan of one cluster: which files of the repository change, and what that does to the cluster.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/apply_run.hpp"
#include "cli/effect_limit.hpp"
#include "effects/report.hpp"
#include "git/repository.hpp"
#include "plan/plan.hpp"

namespace gpuctl::cli {

/// A choice that is another one now; values as JSON.
struct MovedChoice {
  std::string path;
  std::string from;
  std::string to;
  std::string because;  // may be empty
};

/// What is needed of a cluster, once its documents are freed or their objects written.
struct Planned {
  std::string cluster;  // "stage/name"
  std::string branch;   // that its controller follows; empty: the blueprint does not say
  std::vector<plan::Change> changes;
  std::size_t files = 0;  // that it will have
  std::vector<git::Change> writes;
  diag::Sink findings;
  pipeline::Inputs inputs;
  std::vector<std::string> choices;     // paths of all
  std::vector<std::string> names;       // that the last commit retained
  std::vector<std::string> leaving;     // files that the next step removes
  std::vector<std::string> exceptions;  // from the search for secrets
  std::vector<MovedChoice> moves;
  std::string patch;  // of the files, when that is asked for
  effects::ClusterChange effects;
  EffectLimit limit;   // of what it may do
  bool known = false;  // nothing has changed since the last run, so that this one was not made
};

/// A commit that plans are made against.
struct Base {
  /// Paths and blob ids (hex) of all files below a directory.
  std::function<std::map<std::string, std::string>(const std::string& directory, diag::Sink& sink)>
      list;
  /// The content of a file; nothing when it is absent.
  std::function<std::optional<std::string>(const std::string& path, diag::Sink& sink)> read;
};

/// Compares the output of a run with the commit. With `objects` the contents are written as they
/// come, and `writes` names them; otherwise it takes them out of `result`. After errors in
/// `findings` the rest of the plan is not complete.
Planned plan_cluster(Result& result, const Base& base, const ApplyOptions& options,
                     git::NewObjects* objects);

}  // namespace gpuctl::cli
