// The objects of two commits, put side by side.
#pragma once

#include <string>
#include <vector>

#include "effects/assessment.hpp"
#include "schema/kind_ref.hpp"

namespace gpuctl::effects {

/// An object in both commits, or a file that is none; nullptr: absent.
struct Pair {
  const Manifest* old = nullptr;
  const Manifest* now = nullptr;
  schema::KindRef kind;  // empty for a file
  std::string name;      // "namespace/name"
};

/// Those that differ, in the order of what identifies them. An object is the same in another file,
/// another layer and another version of its API. Of several of one identity in one commit the first
/// by path counts. A file that a row of `rows` is about is no object, whatever it holds.
std::vector<Pair> pairs_that_differ(const Rows& rows, const Side& earlier, const Side& later);

}  // namespace gpuctl::effects
