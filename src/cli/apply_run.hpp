// What `apply`, `plan`, `retire` and `upgrade` share: plan all clusters against one commit, then
// make the next one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/cost_options.hpp"

namespace gpuctl::cli {

struct ApplyOptions {
  BlueprintOptions inputs;
  std::string repository;
  std::string branch;
  int timeout = 300;  // seconds
  int idle_timeout = 30;
  std::string message;  // subject of the commit; empty: says what changes
  bool take_over = false;
  bool full = false;
  bool init = false;           // create a repository wherever it is
  bool without_notes = false;  // they were shown before
  bool all_notes = false;
  bool dry_run = false;                   // say what would happen, and commit nothing
  std::string output = "text";            // of a dry run: text, json, markdown, diff
  bool detailed_exit_code = false;        // 2 when there are changes
  std::string max_effect;                 // the worst that may happen; empty: the blueprint says
  std::vector<std::string> allow;         // what may happen even so
  std::vector<std::string> choose_again;  // choices to make again; "" is all
  std::string to;                    // version to go towards, one commit a run; of one blueprint
  std::vector<std::string> retired;  // names that no node goes by any more
  bool priced = false;               // say what the change does to what machines cost
  CostOptions costs;
  bool ignore_waves = false;  // clusters change whatever those before them do
  /// Clusters ("stage/name") whose releases others are to have, by cluster; nothing else of these
  /// may change.
  std::map<std::string, std::vector<std::string>> like;

  /// The options that these commands have.
  void add_to(Options& command);
};

/// Runs the command and gives its exit code.
int run_apply(const ApplyOptions& options, const GlobalOptions& global);

}  // namespace gpuctl::cli
