// Git objects, trees and refs without a work tree, through libgit2.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/held_signals.hpp"
#include "diag/diagnostic.hpp"
#include "git/new_objects.hpp"
#include "git/proposal.hpp"

namespace gpuctl::git {

/// One path to write (content) or to delete (no content), relative to the root of the tree.
/// Deleting what is not there does nothing. A file that stands where a directory is needed (or the
/// reverse) gives way only when the same request deletes it; otherwise that is a diagnostic.
struct Change {
  std::string path;
  std::optional<std::string> content = std::nullopt;
  /// Instead of a content: the hex id of a blob that is in the repository already, see NewObjects,
  /// or of the tree of a directory that is not in the branch yet. Only for bare repositories: a
  /// work tree is brought along from contents.
  std::string stored = {};
  bool directory = false;
};

struct CommitRequest {
  std::string branch;           // without refs/heads/
  std::string expected_tip;     // hex id the branch must still have; empty: must not exist
  std::string message;          // subject, blank line, body
  std::vector<Change> changes;  // distinct paths
  std::string start = {};       // hex id of the parent, for a branch that is new or made anew;
                                // empty: the tip
};

enum class CommitStatus { committed, unchanged, moved, failed };

struct CommitResult {
  CommitStatus status = CommitStatus::failed;
  std::string id;  // of the commit; the parent's when unchanged
  /// Keeps signals back once the branch has moved, until the caller has said so: a process that is
  /// asked to end then ends with the message out. Reset it before anything that takes long.
  std::shared_ptr<base::HeldSignals> signals = nullptr;
};

/// A branch that has moved is no error for commit(), which the caller repeats on the new tip. This
/// is the diagnostic for when the caller gives up after `attempts`.
void report_moved(const std::string& branch, int attempts, diag::Sink& sink);

/// Name of a branch, without `refs/heads/`, and the hex id of its commit.
using Branches = std::map<std::string, std::string>;

/// Where a new branch begins when HEAD names one that does not exist: `main`, `master`, or the only
/// one. Nothing after a diagnostic about `shown`; {"", ""} when there is no branch at all.
std::optional<Branches::value_type> start_without_head(const Branches& branches,
                                                       const std::string& shown, diag::Sink& sink);

/// A repository on disk. Nothing in its configuration, hooks or filters is run or redirects us.
/// One object a thread. The process umask holds for new files (at least 022 is wise: libgit2
/// makes branch files 0666 less the umask); it is not changed here.
class Repository {
 public:
  ~Repository();
  Repository(Repository&&) noexcept;
  Repository& operator=(Repository&&) noexcept;

  /// Opens the repository at `path` (work tree or bare), or creates one with `branch` as its HEAD
  /// when the path is absent or an empty directory. Every refusal is a diagnostic GPU05xx: not a
  /// repository, owned by someone else, SHA-256 or reftable format, damaged.
  static std::optional<Repository> open_or_create(const std::string& path,
                                                  const std::string& branch, bool& created,
                                                  diag::Sink& sink);
  static std::optional<Repository> open(const std::string& path, diag::Sink& sink);
  /// True when there is nothing at `path` but perhaps an empty directory.
  static bool can_be_created(const std::string& path);
  /// False, with GPU0535, when a repository at `path` is probably not what is wanted: its directory
  /// does not exist, or is in the work tree of another repository.
  static bool check_creation(const std::string& path, diag::Sink& sink);
  /// Removes the repository, with the directories made for it, when open_or_create() has created it
  /// and it has no branch yet. The object is of no use afterwards, except to be destroyed.
  void take_back_creation();

  bool is_bare() const;
  /// The directory that holds the objects and refs (for running `git` on it).
  std::string git_directory() const;
  /// How long commit() waits for other writers; 10 s unless set.
  void set_lock_wait(std::chrono::milliseconds wait);
  /// The branch HEAD names, even when it has no commit yet. Empty for a detached HEAD.
  std::string head_branch() const;
  /// The error for a detached HEAD where a branch is needed. `git commit` would make a commit there
  /// that no branch has, which no GitOps controller sees.
  void report_detached(const std::string& shown, diag::Sink& sink) const;
  /// Hex commit id of a branch; empty when it does not exist.
  std::string tip(const std::string& branch, diag::Sink& sink) const;

  /// Hex commit id that a full name (`HEAD`, `refs/...`) leads to; empty when there is none.
  std::string resolve(const std::string& name) const;
  /// Branches and the hex ids of their commits.
  Branches branches() const;
  /// True when `commit` is `tip` or one of its ancestors.
  bool contains(const std::string& tip, const std::string& commit) const;
  /// Removes branches that cannot be beside `branch` (`a` beside `a/b`), with `itself` also the
  /// branch. Only for copies of other repositories.
  bool make_way(const std::string& branch, bool itself, diag::Sink& sink);
  /// Sets `branch` back to a commit it had ("": removes it), after one that came to nothing. Only
  /// for copies of other repositories; false when that cannot be done.
  bool put_back(const std::string& branch, const std::string& commit);

  /// Content of a file in a commit's tree; nothing when absent. A directory, link or submodule in
  /// its place is GPU0508. Not UTF-8 checked.
  std::optional<std::string> read(const std::string& commit, const std::string& path,
                                  diag::Sink& sink) const;
  /// read() of many paths of one commit, in their order.
  std::vector<std::optional<std::string>> read_many(const std::string& commit,
                                                    std::span<const std::string> paths,
                                                    diag::Sink& sink) const;
  /// Hex id of the tree at `directory` ("" = the root) in a commit; empty when there is none.
  std::string tree_id(const std::string& commit, const std::string& directory,
                      diag::Sink& sink) const;
  /// tree_id() of many directories of one commit, in their order.
  std::vector<std::string> tree_ids(const std::string& commit,
                                    std::span<const std::string> directories,
                                    diag::Sink& sink) const;
  /// Paths and blob ids (hex) of all files below `directory` in a commit's tree ("" = everything).
  std::map<std::string, std::string> list(const std::string& commit, const std::string& directory,
                                          diag::Sink& sink) const;
  /// When `directory` was last changed in the history of a commit: the time of the commit that did
  /// so, in seconds since 1970. Nothing when the commit does not have it, or its history is not
  /// there as far back.
  std::optional<std::int64_t> changed_at(const std::string& commit,
                                         const std::string& directory) const;
  /// To write the objects of changes before all changes are known. commit() then needs the changes'
  /// ids only, once finish() has run.
  std::optional<NewObjects> new_objects(diag::Sink& sink) const;
  /// The blob id that `content` would have.
  static std::string blob_id(std::string_view content);

  /// Looks whether a run that was killed has moved a branch and not updated the work tree that has
  /// it checked out, and does that now, which a note tells (GPU0529). Files that the user changed
  /// since stay. With `look_only` a warning says what is to be done. False after an error.
  bool finish_interrupted(bool look_only, diag::Sink& sink);

  /// What `tip` proposes to `base` below `directory`, see read_proposal().
  std::optional<Proposal> proposal(const std::string& directory, const std::string& base,
                                   const std::string& tip, diag::Sink& sink) const;

  /// Writes blobs and the changed trees, fsyncs them, and moves the branch by compare-and-swap to a
  /// commit with `start` as its parent, whatever the branch had. `unchanged` when the tree would be
  /// that of `start`, or the branch has this tree on `start` already; `moved` when the branch is
  /// not at expected_tip any more. A branch that does not exist is made. A
  /// work tree whose HEAD is this branch is brought along for the changed paths when they are clean
  /// (otherwise a warning says how to update it), index included; when the system refuses that, the
  /// commit is made all the same, an error says so, and the next run finishes it. Refused when
  /// somebody else is at work on the branch, see check_checkouts(). Author and committer come from
  /// git's own configuration and environment. Held off by an flock on `gpuctl.lock` in the git
  /// directory; lock files of others are waited for and never removed.
  CommitResult commit(const CommitRequest& request, diag::Sink& sink);

 private:
  struct State;
  explicit Repository(std::unique_ptr<State> state);
  // finish_interrupted(), under our lock.
  bool finish_checkout(diag::Sink& sink);
  std::unique_ptr<State> state_;
};

}  // namespace gpuctl::git
