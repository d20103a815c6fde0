// Our own lock on a repository, and the lock files of others.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "diag/diagnostic.hpp"

namespace gpuctl::git {

/// An flock on `<git directory>/gpuctl.lock`: it ends with the process that holds it, however that
/// dies. The file stays; it holds the process id of the last owner.
class RepositoryLock {
 public:
  /// Waits up to `wait` for another owner; then a diagnostic and nothing.
  static std::optional<RepositoryLock> acquire(const std::string& git_directory,
                                               std::chrono::milliseconds wait, diag::Sink& sink);

 private:
  explicit RepositoryLock(base::FileDescriptor file) : file_(std::move(file)) {}
  base::FileDescriptor file_;
};

/// Waits up to `wait` until none of `files` exists. False and a diagnostic that names the file and
/// its age when one stays; it is never removed.
bool wait_for_lock_files(const std::vector<std::string>& files, std::chrono::milliseconds wait,
                         diag::Sink& sink);

/// Adds the diagnostic for a lock file of another program.
void report_lock_file(const std::string& file, diag::Sink& sink);

}  // namespace gpuctl::git
