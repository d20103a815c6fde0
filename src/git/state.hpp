// What a Repository holds.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "git/libgit.hpp"
#include "git/open.hpp"
#include "git/repository.hpp"

namespace gpuctl::git {

struct Repository::State {
  Owned<git_repository> handle;
  std::string path;  // as the user gave it
  std::optional<Creation> creation;
  std::chrono::milliseconds lock_wait{10'000};
};

/// The commit with a hex id; nullptr after a diagnostic.
Owned<git_commit> commit_of(git_repository* repository, const std::string& id, diag::Sink& sink);
/// Its tree; nullptr after a diagnostic.
Owned<git_tree> tree_of(git_repository* repository, const std::string& commit, diag::Sink& sink);

/// False after a diagnostic when `branch` is no name Git takes for a branch.
bool check_branch_name(const std::string& branch, diag::Sink& sink);

}  // namespace gpuctl::git
