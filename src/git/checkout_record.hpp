// What a run is about to do to a work tree, kept until it is done.
#pragma once

#include <optional>
#include <string>

#include "diag/diagnostic.hpp"

namespace gpuctl::git {

/// Between moving a branch and updating the work tree that has it checked out, index and files are
/// those of the old commit, and `git commit -a` would undo the new one. A run that dies there
/// leaves this record, and the next one finishes its work. It is the file `gpuctl-checkout` in the
/// git directory of the work tree, written durably before the branch moves.
struct CheckoutRecord {
  std::string branch;
  std::string before;  // hex id of the commit the work tree was at; empty: none
  std::string after;   // hex id of the commit it is to be at
  std::string mark;    // in the names of temporary files, see base::OutputOptions

  /// The record in a git directory; nothing when there is none, or none that we can have written.
  static std::optional<CheckoutRecord> read(const std::string& git_directory);
  /// False after a diagnostic; then there is no record.
  bool write(const std::string& git_directory, diag::Sink& sink) const;
  /// False when it is there still.
  static bool remove(const std::string& git_directory);
};

}  // namespace gpuctl::git
