// Many blueprints in one run, with memory for a few: what a cluster leaves behind is its
// diagnostics as they will be printed, and what the command makes of its documents while they are
// there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "pipeline/run.hpp"

namespace gpuctl::cli {

/// What stays of a blueprint.
struct Finished {
  std::string blueprint_file;
  std::string cluster;  // "stage/name"; empty when the blueprint could not be read
  std::size_t documents = 0;
  bool foreign = false;  // documents that others wrote, no blueprint
  Shown findings;
  Shown withheld;  // which documents wait for facts, and what to do (notes GPU0604)

  bool accepted(bool strict) const {
    return findings.errors == 0 && !(strict && findings.warnings != 0);
  }
};

/// Deals with the result of blueprint `index`, on the thread that made it and before it is freed.
/// Several run at a time, in any order, each for another cluster.
using Consume = std::function<void(std::size_t index, Result& result)>;

/// Runs all blueprints on `jobs` threads; what stays of each, in the order of the files. Two
/// blueprints for one cluster are GPU0005, facts on the command line for several clusters GPU0685;
/// of these `consume` may see any before it sees the second with that error.
std::vector<Finished> run_all(const std::vector<std::string>& blueprint_files,
                              const Request& request, Knowledge& knowledge, unsigned jobs,
                              const Report& report, const Consume& consume);

/// Which documents of a run wait for facts, and how to get these (notes GPU0604). What the
/// blueprint ignores of that is counted in `ignored`.
Shown prepare_withheld(const Result& result, const Report& report,
                       std::vector<pipeline::Ignored>& ignored);

/// Shows what the runs found, then what is withheld; true when the command may go on (no errors; no
/// warnings if strict).
bool show_all(const std::vector<Finished>& clusters, bool strict, Report& report);

}  // namespace gpuctl::cli
