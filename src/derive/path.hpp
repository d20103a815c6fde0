// Paths that rows of knowledge set: `gpuOperator.channel`, `gpuPools[].machine.name`.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::derive {

/// One step of a path.
struct Step {
  std::string key;
  bool each = false;  // followed by []: once for each item of the list
};

/// The steps; nothing when malformed, or when it ends with a list.
std::optional<std::vector<Step>> parse_path(std::string_view text);

/// The steps up to and including the innermost `[]`; empty when there is none.
std::span<const Step> innermost_list(std::span<const Step> path);

/// What decides the values of one path.
struct Placing {
  /// Called on the way down for each item of a list, the innermost last.
  std::function<void(const yaml::Node& item, std::size_t index)> enter;
  /// The value at a place, nothing to leave it as it is. `filed` is the place as the lock files it:
  /// items by their `name`, otherwise by position ("gpuPools[large].zones").
  std::function<std::optional<yaml::Node>(const std::string& filed)> value;
};

/// `tree` with values at every place that the path leads to. Absent parents are made as maps,
/// absent lists stay absent.
yaml::Node set_at(const yaml::Node& tree, std::span<const Step> path, const Placing& placing,
                  yaml::Arena& arena, const std::string& filed = {});

}  // namespace gpuctl::derive
