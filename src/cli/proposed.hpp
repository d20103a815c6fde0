// Branches that are to be merged: planned anew on their base, or gone on with.
#pragma once

#include <optional>
#include <string>

#include "diag/diagnostic.hpp"
#include "git/remote.hpp"
#include "git/repository.hpp"

namespace gpuctl::cli {

/// What the branch of `head` proposes to its base; with an obstacle also when somebody edited a
/// file of gpuctl on it. An empty one for a branch without a base. Nothing after a diagnostic.
std::optional<git::Proposal> read_proposed(const git::Repository& repository, const git::Head& head,
                                           diag::Sink& sink);

/// `clusters/.gitattributes`, which marks what is generated, so that reviews show it folded
/// (`linguist-generated`). Nothing where the commit `start` ("": an empty one) of `repository`
/// (nullptr: there is none) has such a file, whoever wrote it.
std::optional<git::Change> missing_attributes(const git::Repository* repository,
                                              const std::string& start);

/// The note (GPU0536) that the commit goes on top of what the branch has.
void note_kept(const git::Head& head, const std::string& obstacle, diag::Sink& sink);

/// The warning (GPU0537) that the branch has commits, and nothing is left to propose.
void warn_settled(const git::Head& head, diag::Sink& sink);

}  // namespace gpuctl::cli
