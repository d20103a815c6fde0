// Commits that are signed as git's own configuration says, by git itself.
#pragma once

#include <optional>
#include <string>

#include "git/identity.hpp"
#include "git/libgit.hpp"

namespace gpuctl::git {

/// True when the configuration wants every commit signed (`commit.gpgSign`).
bool signing_is_wanted(git_repository* repository);

/// Makes a signed commit of a tree that the repository on disk has: `git commit-tree -S`, which
/// takes format and key from `gpg.format` and `user.signingKey`, and the program from
/// `gpg.program` and its like in the configuration of the user or the machine, never from that of
/// the repository. Nothing asks
/// on the terminal: a key with a passphrase has to be known to its agent. `parent`: nullptr for
/// none. Nothing after a diagnostic (GPU0511).
std::optional<git_oid> write_signed_commit(git_repository* repository, const Identity& identity,
                                           const git_oid* parent, const git_oid& tree,
                                           const std::string& message, diag::Sink& sink);

}  // namespace gpuctl::git
