// From a list of changes to a new tree: only the directories on the way to a change are written.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "git/libgit.hpp"
#include "git/repository.hpp"

namespace gpuctl::git {

/// Requested changes as a tree of path components.
struct ChangeNode {
  const Change* change = nullptr;
  std::map<std::string, ChangeNode> children;

  bool writes() const {
    return change != nullptr && (change->content.has_value() || !change->stored.empty());
  }
};

/// Checks every path and puts the changes into a tree; nothing after a diagnostic (unsafe path,
/// path given twice, a path that is both file and directory). Refers to `changes`.
std::optional<ChangeNode> arrange(std::span<const Change> changes, diag::Sink& sink);

/// A change that makes a difference to the tree.
struct AppliedChange {
  const Change* change = nullptr;
  std::optional<git_oid> before;  // blob in the old tree
  std::optional<git_oid> after;
  git_filemode_t mode = GIT_FILEMODE_BLOB;
};

struct WrittenTree {
  git_oid id{};
  std::vector<AppliedChange> applied;  // by path
  std::vector<git_oid> objects;        // blobs and trees made on the way
};

/// Writes blobs and changed trees on top of `old_tree` (may be nullptr) into the object store of
/// `repository`. Nothing after a diagnostic. An executable file stays executable.
std::optional<WrittenTree> write_tree(git_repository* repository, git_tree* old_tree,
                                      const ChangeNode& changes, diag::Sink& sink);

}  // namespace gpuctl::git
