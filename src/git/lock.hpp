// Our own lock on a repository, and the lock files of others.
#pragma once

#include <chrono>
#include <ctime>
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
  int error = 0;       // errno; EWOULDBLOCK: somebody else kept it for the whole time
  std::string owner;   // process id of whoever keeps it, when known
  std::string left;    // what the last owner wrote
  timespec left_at{};  // when

  explicit operator bool() const { return static_cast<bool>(file); }

  /// Waits until `deadline` for another owner. `waiting` is called once, when there is one for half
  /// a second already. When the file was removed meanwhile, the new one counts.
  static FileLock acquire(const std::string& path, std::chrono::steady_clock::time_point deadline,
                          const std::function<void(const std::string& owner)>& waiting);

  /// Writes our process id in the place of `left`.
  void note_owner();
};

/// An flock on `<git directory>/gpuctl.lock`: it ends with the process that holds it, however that
/// dies. Git's own lock on a branch does not, and neither do half-written objects: what a killed
/// owner left of them is removed by the next one, when it is certain that it is ours. The file is
/// empty when its last owner has come to an end in order.
class RepositoryLock {
 public:
  ~RepositoryLock();
  RepositoryLock(RepositoryLock&&) noexcept = default;
  RepositoryLock& operator=(RepositoryLock&&) noexcept = delete;
  RepositoryLock(const RepositoryLock&) = delete;
  RepositoryLock& operator=(const RepositoryLock&) = delete;

  /// True when the last owner has not come to an end in order, or holds the lock now.
  static bool is_left(const std::string& git_directory);
  /// Waits up to `wait` for another owner; then a diagnostic and nothing.
  static std::optional<RepositoryLock> acquire(const std::string& git_directory,
                                               std::chrono::milliseconds wait, diag::Sink& sink);

  /// Notes that the next thing we do is to make the lock file `file` (below the git directory).
  void announce_lock_file(const std::string& file, const std::string& commit);
  /// Notes that the lock file `file`, which exists and is empty, is ours, and that `commit` (hex)
  /// is all that will be written to it.
  void note_lock_file(const std::string& file, const std::string& commit);
  /// Takes back an announcement: the file is somebody else's, or gone.
  void forget_lock_file();

 private:
  void note(const std::string& time, const std::string& file, const std::string& commit);

  RepositoryLock(base::FileDescriptor file, std::string git_directory)
      : file_(std::move(file)), git_directory_(std::move(git_directory)) {}
  base::FileDescriptor file_;
  std::string git_directory_;
};

/// Waits up to `wait` until none of `files` exists. False and a diagnostic that names the file and
/// its age when one stays; it is never removed.
bool wait_for_lock_files(const std::vector<std::string>& files, std::chrono::milliseconds wait,
                         diag::Sink& sink);

/// Adds the diagnostic for a lock file of another program.
void report_lock_file(const std::string& file, diag::Sink& sink);

}  // namespace gpuctl::git
