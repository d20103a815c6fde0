// Values that say what holds without them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::imports {

/// `wanted` as near to `made` as it can be without another meaning, where the readers of both take
/// an absent field for the value that a tree of `absent` has at its place (empty maps, lists and
/// scalars are values, the key `*` stands for all, and below a text is what it holds). Several
/// trees may name a value each, which then mean the same. What `wanted` restates and `made` leaves
/// out goes, with maps that become empty by it; what `made` restates comes, also in the place of
/// what `wanted` restates in another way. The paths of all are added to `restated`.
yaml::Node without_restated(std::span<const yaml::Node> absent, const yaml::Node& wanted,
                            const yaml::Node& made, yaml::Arena& arena,
                            std::vector<std::string>* restated = nullptr);

}  // namespace gpuctl::imports
