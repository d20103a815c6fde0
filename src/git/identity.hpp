// Who a commit is by.
#pragma once

#include <optional>

#include "git/libgit.hpp"

namespace gpuctl::git {

struct Identity {
  Owned<git_signature> author;
  Owned<git_signature> committer;
};

/// Author and committer in git's order: GIT_AUTHOR_NAME, _EMAIL, _DATE (GIT_COMMITTER_...), the
/// configuration `author.*` (`committer.*`), then `user.*`, then EMAIL. Without any of them the
/// commit is by `gpuctl <gpuctl@localhost>`. Dates are taken as `@SECONDS ZONE`, `SECONDS ZONE` or
/// `YYYY-MM-DDTHH:MM:SS` with a zone (`Z`, `+HHMM`, `+HH:MM`).
std::optional<Identity> identity_of(git_repository* repository, diag::Sink& sink);

}  // namespace gpuctl::git
