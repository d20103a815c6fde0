// Many new objects as one pack instead of one synced file each.
#pragma once

#include <optional>
#include <span>

#include "git/libgit.hpp"

namespace gpuctl::git {

/// From this many changes on a commit is written as one pack.
inline constexpr std::size_t kPackFrom = 200;

/// A second handle on a repository whose new objects stay in memory until save().
class BulkStore {
 public:
  /// Nothing after a diagnostic.
  static std::optional<BulkStore> open(git_repository* repository, diag::Sink& sink);

  git_repository* repository() const { return handle_.get(); }

  /// Writes those of `objects` that the repository on disk has not yet as one synced pack, and
  /// makes them visible to `target`, the handle open() was given.
  bool save(git_repository* target, std::span<const git_oid> objects, diag::Sink& sink);

 private:
  explicit BulkStore(Owned<git_repository> handle) : handle_(std::move(handle)) {}
  Owned<git_repository> handle_;
};

}  // namespace gpuctl::git
