// Patches that leave in a list what is as it should be.
#pragma once

#include <string>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::imports {

/// A patch in two parts. The operations come first: a merge patch may give the document another
/// name.
struct SplitPatch {
  yaml::Node operations;  // a list of RFC 6902 operations; null when there are none
  yaml::Node merge;       // RFC 7386; null when there is none

  bool empty() const { return merge.is_null() && operations.is_null(); }
};

bool operator==(const SplitPatch& a, const SplitPatch& b);

/// The merge patch with its lists as `wanted` has them, where it has some: a reader may have filled
/// in what they leave out.
yaml::Node as_written(const yaml::Node& patch, const yaml::Node& wanted, yaml::Arena& arena);

/// A merge patch replaces lists as a whole, and what a blueprint says of them with it. The same
/// patch for a document that has `made`, with operations on the items of a list wherever they
/// change less than all of it. Items that have names are tested for them first, so that the
/// operations meet the items they were made for or fail.
SplitPatch split_lists(const yaml::Node& patch, const yaml::Node& made, yaml::Arena& arena);

/// The fields that operations change, as path_of() writes them; tests change none.
std::vector<std::string> changed_by(const yaml::Node& operations);

}  // namespace gpuctl::imports
