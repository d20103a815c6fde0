// One blueprint through all stages: open, load, derive, check, write, assemble.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/ignore.hpp"
#include "pipeline/output.hpp"

namespace gpuctl::pipeline {

/// What came of one file: the product of each stage that was reached, none before the one that it
/// is made of. Owns what its diagnostics point into.
struct Result {
  std::shared_ptr<const Members> members;  // the sources may begin with those of one
  std::string blueprint_file;
  std::string facts_beside;  // where its facts may lie
  std::string directory;     // that its relative paths begin in: "" or with a slash at its end
  std::unique_ptr<diag::Sources> sources;
  std::unique_ptr<yaml::Arena> arena;
  diag::Sink sink;
  Inputs inputs;
  std::optional<std::size_t> foreign;      // documents in a file that others wrote: no blueprint
  std::optional<Opened> opened;            // the cluster is known
  std::optional<Loaded> loaded;            // everything it depends on was read
  std::optional<derive::Derived> derived;  // no rule objects, or the request does not mind
  std::optional<Manifests> manifests;
  std::optional<Output> output;  // no error at all, but those that the request does not mind
  std::vector<Ignored> ignored;  // an entry for each of `spec.ignore`

  yaml::Context context() { return {*sources, *arena, sink}; }

  /// "stage/name": what no two clusters of a repository have in common. The cluster must be known.
  std::string cluster() const { return opened->blueprint.stage + "/" + opened->blueprint.name; }

  /// What expressions read of the cluster, which must have been derived.
  derive::Inputs expression_inputs() const;

  /// The documents, withheld ones and those left out; empty when that stage was not reached.
  const render::Rendered& rendered() const;

  /// Takes out what the blueprint ignores, also of findings that come later.
  void leave_out_ignored(diag::Sink& findings);
};

/// Runs the stages on one blueprint. Never throws for what a user did.
Result run(const std::string& blueprint_file, const Request& request, Knowledge& knowledge);

}  // namespace gpuctl::pipeline
