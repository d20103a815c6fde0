// Bringing a checked-out work tree along after its branch has moved.
#pragma once

#include <span>
#include <string>

#include "git/libgit.hpp"
#include "git/tree_writer.hpp"

namespace gpuctl::git {

/// Writes and removes the changed files in the work tree of `repository`, and updates the index.
/// A file that the user changed, staged or put in the way is left as it is; one warning names those
/// files. Filters (line endings, external programs) are not applied.
void update_work_tree(git_repository* repository, std::span<const AppliedChange> applied,
                      diag::Sink& sink);

}  // namespace gpuctl::git
