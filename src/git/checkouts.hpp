// Who has a branch checked out, or is at work on it.
#pragma once

#include <string>

#include "git/libgit.hpp"

namespace gpuctl::git {

/// False after a diagnostic when moving `branch` would change what somebody is at work on, as Git
/// itself refuses it for `git branch --force` and `git fetch`: it is checked out in another work
/// tree (GPU0531), or it is being rebased or bisected in any of them, or a merge, cherry-pick,
/// revert or `git am` is under way on it in the one of `repository` (GPU0532). A work tree whose
/// directory is gone does not count, unless it is locked (`git worktree lock`).
bool check_checkouts(git_repository* repository, const std::string& branch, diag::Sink& sink);

/// What is under way in the work tree of `repository`: "a rebase", "a merge" ...; "" for nothing.
std::string under_way(git_repository* repository);

}  // namespace gpuctl::git
