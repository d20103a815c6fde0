// Bringing a checked-out work tree along after its branch has moved.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/output_tree.hpp"
#include "git/index_lock.hpp"
#include "git/libgit.hpp"

namespace gpuctl::git {

/// A file of the work tree that a commit changes.
struct FileUpdate {
  std::string path;
  std::optional<git_oid> before;  // blob in the commit before
  std::optional<git_oid> after;
  git_filemode_t mode = GIT_FILEMODE_BLOB;
  const std::string* content = nullptr;  // of `after`, when it is at hand
};

/// The files of the commit of a work tree, under Git's lock on its index.
class WorkTree {
 public:
  enum class Outcome {
    complete,
    kept,    // what the user changed, staged or put in the way was left; a warning names it
    failed,  // the system refused; an error names what is left to do
  };

  /// Takes the lock and reads the index. Nothing after a diagnostic: locked by another program,
  /// unreadable, no room. `mark` goes into the names of temporary files.
  static std::optional<WorkTree> open(git_repository* repository, const std::string& mark,
                                      std::chrono::milliseconds wait, diag::Sink& sink);

  /// Writes and removes files, and puts the new index in place. A file counts as changed by the
  /// user when Git would say so, line endings included; what is written is what is committed.
  Outcome update(std::span<const FileUpdate> updates, diag::Sink& sink);
  /// Files that update() wrote, removed or staged.
  std::size_t updated() const { return updated_; }
  /// Removes what a run with this mark left in the directories of `updates` when it was killed.
  void remove_temporaries(std::span<const FileUpdate> updates);

 private:
  WorkTree(git_repository* repository, IndexLock lock, Owned<git_index> index,
           base::OutputTree files, std::string root)
      : repository_(repository),
        lock_(std::move(lock)),
        index_(std::move(index)),
        files_(std::move(files)),
        root_(std::move(root)) {}

  void update(const FileUpdate& update);
  void keep(const std::string& path, std::string reason);
  void fail(const std::string& path, std::string reason);
  void refuse(const std::string& path, const base::FileError& error);
  bool in_conflict(const std::string& path) const;
  bool is_content(const std::optional<git_oid>& wanted, const std::optional<git_oid>& raw,
                  const std::string& path, const std::string& content) const;
  std::optional<base::FileError> replace(const FileUpdate& update);
  void stage(const FileUpdate& update, bool with_status, bool sparse);
  Outcome report(diag::Sink& sink) const;

  git_repository* repository_;
  IndexLock lock_;
  Owned<git_index> index_;
  base::OutputTree files_;
  std::string root_;  // ends in a slash
  std::size_t updated_ = 0;
  using Reasons = std::vector<std::pair<std::string, std::string>>;
  Reasons kept_;  // path and reason
  Reasons failed_;
};

}  // namespace gpuctl::git
