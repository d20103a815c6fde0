// Opening and creating repositories on disk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "git/libgit.hpp"

namespace gpuctl::git {

/// The repository at `path`; nullptr after a diagnostic.
Owned<git_repository> open_repository(const std::string& path, diag::Sink& sink);

/// False after a diagnostic when something that a commit to `branch` writes to is a symbolic link
/// inside of the repository: libgit2 follows those, to wherever they lead.
bool check_links(git_repository* repository, const std::string& branch, diag::Sink& sink);

/// What create_repository() made.
struct Creation {
  bool repository = false;               // false: the branch moved
  bool into_empty = false;               // the directory was there, empty
  std::vector<std::string> directories;  // made above and for it, outermost first
};

/// Creates an empty repository in the absent or empty directory `path`, with `branch` as HEAD: a
/// bare one when `path` ends in `.git`, otherwise one with a work tree. It appears whole or not at
/// all. Nothing after a diagnostic, and then all is as it was.
std::optional<Creation> create_repository(const std::string& path, const std::string& branch,
                                          diag::Sink& sink);

/// Takes a creation back, unless the repository is in use or has a branch by now. An empty
/// repository that cannot be removed stays: it harms nothing.
void remove_repository(const std::string& path, const Creation& creation);

/// True when there is nothing at `path`, or a directory without entries (left-overs of an
/// interrupted creation do not count).
bool is_absent_or_empty(const std::string& path);

}  // namespace gpuctl::git
