// Opening and creating repositories on disk.
#pragma once

#include <string>

#include "git/libgit.hpp"

namespace gpuctl::git {

/// The repository at `path`; nullptr after a diagnostic.
Owned<git_repository> open_repository(const std::string& path, diag::Sink& sink);

/// Creates an empty repository in the absent or empty directory `path`, with `branch` as HEAD: a
/// bare one when `path` ends in `.git`, otherwise one with a work tree. It appears whole or not at
/// all; when somebody else was faster, `created` is false. False after a diagnostic.
bool create_repository(const std::string& path, const std::string& branch, bool& created,
                       diag::Sink& sink);

/// True when there is nothing at `path`, or a directory without entries (left-overs of an
/// interrupted creation do not count).
bool is_absent_or_empty(const std::string& path);

}  // namespace gpuctl::git
