// Trees that texts hold, as in the values of ConfigMaps.
#pragma once

#include <optional>

#include "yaml/node.hpp"
#include "yaml/read.hpp"

namespace gpuctl::yaml {

/// As programs read such texts: anchors may be used, a few times.
ReadLimits held_limits();

/// The map or list that a text of several lines of YAML holds; nothing when it is no such text. Its
/// nodes have no places.
std::optional<Node> held_tree(const Node& text, Arena& arena);

}  // namespace gpuctl::yaml
