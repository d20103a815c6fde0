// Paths into trees as people write them: `spec.gpuPools[large].labels["a.b/c"]`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::yaml {

/// One step: a key of a map, or what stands in brackets.
struct PathStep {
  std::string text;
  bool bracketed = false;  // `[0]` or `[name]`; a quoted key `["a.b"]` is not
};

/// Reads a path; a leading dot is allowed, the empty text is the root. Nothing when it is malformed
/// (an open bracket or quote, an empty step).
std::optional<std::vector<PathStep>> parse_path(std::string_view text);

/// The step to `key` as parse_path() reads it, with the dot or brackets before it.
std::string key_step(std::string_view key);

/// The step to item `index` of a list: `[name]` when the item is a map with a `name` of letters,
/// digits, `-`, `_`, `.` that does not read as a number, otherwise its position.
std::string item_step(const Node& item, std::size_t index);

/// The node that a step leads to, or nullptr. A list is entered by position, or by `name`.
const Node* step_into(const Node& node, const PathStep& step);

/// The tree with `value` at these keys; maps on the way are made, what is no map is left as it is.
Node with_value(const Node& tree, std::span<const std::string> keys, const Node& value,
                Arena& arena);

/// The path of the first node, or key, below `root` that stands at `origin`: `spec.pools[1].name`.
/// Empty when there is none. `origin` must be known.
std::string path_to(const Node& root, diag::Origin origin);

}  // namespace gpuctl::yaml
