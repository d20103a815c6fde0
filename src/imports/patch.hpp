// Merge patches as overrides hold them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::imports {

/// A value in a merge patch, and the keys that lead to it.
struct Leaf {
  std::vector<std::string> steps;
  yaml::Node value;
};

/// The path that such keys make, as differences() writes it.
std::string path_of(std::span<const std::string> steps);

/// All values of a merge patch, in order. An empty map is one.
std::vector<Leaf> leaves_of(const yaml::Node& patch);

/// The patch with one more value.
yaml::Node with_leaf(const yaml::Node& patch, std::span<const std::string> steps,
                     const yaml::Node& value, yaml::Arena& arena);

/// A regular expression that matches just this text.
std::string exactly(std::string_view text);

}  // namespace gpuctl::imports
