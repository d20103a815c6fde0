// Values that say what holds without them.
#pragma once

#include <string>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::imports {

/// `wanted` as near to `made` as it can be without another meaning, where the readers of both take
/// an absent field for the value that `absent` has at its place (a tree; empty maps, lists and
/// scalars are values, the key `*` stands for all, and below a text is what it holds). What
/// `wanted` restates and `made` leaves out goes, with maps that become empty by it; what `made`
/// restates comes. The paths of both are added to `restated`.
yaml::Node without_restated(const yaml::Node& absent, const yaml::Node& wanted,
                            const yaml::Node& made, yaml::Arena& arena,
                            std::vector<std::string>* restated = nullptr);

}  // namespace gpuctl::imports
