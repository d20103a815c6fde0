// What names the items of lists of maps, which have no keys of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::yaml {

/// The names of all items of two lists, by the same fields.
struct ItemNames {
  std::vector<std::string_view> fields;
  std::vector<std::string> first;
  std::vector<std::string> second;
};

/// Items of lists of maps are named by `name`, by `key` and `effect`, or by another field that all
/// of both lists have and no two of one share (Kubernetes API conventions, "lists of named
/// subobjects preferred over maps"). Nothing for lists whose items have no such names, or when both
/// are empty.
std::optional<ItemNames> item_names(const Node& first, const Node& second);

}  // namespace gpuctl::yaml
