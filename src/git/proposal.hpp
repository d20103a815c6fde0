// What a branch has that its base does not, and whether gpuctl can propose it anew.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "diag/diagnostic.hpp"
#include "git/libgit.hpp"

namespace gpuctl::git {

/// The commits of a branch that its base does not have.
struct Proposal {
  /// The directories of clusters in which they change files: "clusters/prod/ml-a".
  std::set<std::string> clusters;
  /// Why they cannot be made again, such as "3f2a91b04c11 was not made by gpuctl"; empty: they can.
  std::string obstacle;
};

/// Reads the commits between `base` and `tip` (hex ids). They can be made again when each has one
/// parent, says in its trailers that `gpuctl apply` made it, and changes nothing but files two
/// directories below `directory` ("clusters") and the attributes there. Nothing after a diagnostic.
std::optional<Proposal> read_proposal(git_repository* repository, const std::string& directory,
                                      const std::string& base, const std::string& tip,
                                      diag::Sink& sink);

}  // namespace gpuctl::git
