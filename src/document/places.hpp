// Where findings about a document point when nobody wrote the value they are about: defaults, and
// what a reader makes of old fields.
#pragma once

#include <map>
#include <string>

#include "yaml/node.hpp"

namespace gpuctl::document {

/// A tree in which every value below the top has an origin.
struct Lent {
  yaml::Node tree;
  /// From the origin of a value that nobody wrote, which stands for nothing else, to that of the
  /// nearest value around it that somebody did.
  std::map<diag::Origin, diag::Origin> around;
};
Lent lend_places(const yaml::Node& tree, yaml::Arena& arena);

/// `made`, which a conversion made of `old`, with the origins of it, part by part, where it has
/// none of its own.
yaml::Node in_place_of(const yaml::Node& old, const yaml::Node& made, yaml::Arena& arena);

/// `path` when it leads to something in the document, or to a field that is missing in it;
/// otherwise the path of what stands `at`, or of the nearest value above.
std::string written_path(const yaml::Node& document, const std::string& path, diag::Origin at);

}  // namespace gpuctl::document
