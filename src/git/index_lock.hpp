// Git's lock on the index of a work tree, and a new index under it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "diag/diagnostic.hpp"
#include "git/libgit.hpp"

namespace gpuctl::git {

/// Holds `index.lock`, as every Git program does that changes index and work tree: nobody else can
/// stage or commit meanwhile. The file is a second name of one of ours, so that what a killed run
/// leaves of it can be told from the lock of somebody else. To be taken under the RepositoryLock.
class IndexLock {
 public:
  /// Waits up to `wait` for another program; then GPU0504 and nothing.
  static std::optional<IndexLock> acquire(const std::string& git_directory,
                                          std::chrono::milliseconds wait, diag::Sink& sink);
  ~IndexLock() { release(); }
  IndexLock(IndexLock&& other) noexcept;
  IndexLock& operator=(IndexLock&& other) noexcept;
  IndexLock(const IndexLock&) = delete;
  IndexLock& operator=(const IndexLock&) = delete;

  /// True when a run of ours has the lock, or has left it when it was killed.
  static bool is_left(const std::string& git_directory);
  /// Removes what a run of ours left when it was killed: its lock, and half of an index.
  static void remove_left(const std::string& git_directory);

  /// The index as it stands, to be changed; nullptr when it cannot be read, and `reason` says why.
  Owned<git_index> read(std::string& reason) const;
  /// Puts the changed one in its place, whole. False when that fails, and `reason` says why.
  bool write(git_index* index, std::string& reason) const;
  /// Lets others at the index; false when the lock file stays, to be removed by the next run.
  bool release();

 private:
  explicit IndexLock(std::string git_directory) : git_directory_(std::move(git_directory)) {}
  std::string git_directory_;  // empty: released
};

}  // namespace gpuctl::git
