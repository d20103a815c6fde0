// What makes one document differ from another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::imports {

/// A place where two documents differ.
struct Difference {
  std::string path;   // "spec.template.spec.taints[0].value", as yaml::parse_path() reads it
  yaml::Node wanted;  // null: absent
  yaml::Node made;    // null: absent
};

/// The path of a key below a path; the root is the empty path.
std::string step_below(const std::string& path, std::string_view key);

/// All places where `made` is not as `wanted`. Lists of one length are compared item by item. Texts
/// that hold YAML, as in ConfigMaps, are compared as what they hold. Annotations that only `made`
/// has are none: tools add their own.
std::vector<Difference> differences(const yaml::Node& wanted, const yaml::Node& made);

/// Number of scalars, empty lists and empty maps in a tree.
std::size_t leaves(const yaml::Node& tree);

/// The RFC 7386 merge patch that makes `wanted` of `made`, as far as it differs by differences(). A
/// null in `wanted` is an absent field; what a text holds is patched where that says less than the
/// text. Null when nothing differs.
yaml::Node patch_between(const yaml::Node& wanted, const yaml::Node& made, yaml::Arena& arena);

}  // namespace gpuctl::imports
