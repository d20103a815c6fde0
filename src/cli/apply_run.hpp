// What `apply` and `upgrade` share: plan all clusters against one commit, then make the next one.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace gpuctl::cli {

struct ApplyOptions {
  BlueprintOptions inputs;
  std::string repository;
  std::string branch;
  int timeout = 300;  // seconds
  int idle_timeout = 30;
  bool take_over = false;
  bool full = false;
  bool dry_run = false;                   // say what would happen, and commit nothing
  std::vector<std::string> choose_again;  // choices to make again; "" is all

  /// The options that both commands have.
  void add_to(CLI::App& command);
};

/// Runs the command and gives its exit code.
int run_apply(const ApplyOptions& options, const GlobalOptions& global);

}  // namespace gpuctl::cli
