// Our own lock on a repository, and the lock files of others.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "diag/diagnostic.hpp"

namespace gpuctl::git {

/// An flock on one file, which stays when it ends; it holds the process id of the last owner.
struct FileLock {
  base::FileDescriptor file;
  int error = 0;      // errno; EWOULDBLOCK: somebody else kept it for the whole time
  std::string owner;  // process id of whoever keeps it, when known

  explicit operator bool() const { return static_cast<bool>(file); }

  /// Waits until `deadline` for another owner. `waiting` is called once, when there is one for half
  /// a second already. When the file was removed meanwhile, the new one counts.
  static FileLock acquire(const std::string& path, std::chrono::steady_clock::time_point deadline,
                          const std::function<void(const std::string& owner)>& waiting);
};

/// An flock on `<git directory>/gpuctl.lock`: it ends with the process that holds it, however that
/// dies.
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
