// Whether a repository elsewhere can be read and pushed to, without changing it.
#pragma once

#include <string>

#include "base/process.hpp"
#include "git/address.hpp"

namespace gpuctl::git {

/// What a server lets us do.
struct Access {
  bool readable = false;
  bool writable = false;  // it takes pushes; hooks and protected branches are asked by a real one
  std::string_view code;  // of the first thing that failed, as code_of() gives it; may be empty
  std::string why;        // its last words, in one line, without the user of the address
};

/// Lists the branches, then offers a commit of an empty tree on a new branch with `--dry-run`.
/// Works in a directory of its own that is gone afterwards.
Access try_access(const Address& address, std::chrono::steady_clock::time_point deadline);

}  // namespace gpuctl::git
