// Schemas as files of knowledge write them: by path, and with parts that stand in several places.
#pragma once

#include <string_view>

#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::catalog {

/// The key of a schema that takes in a part.
inline constexpr std::string_view kTakesShared = "x-gpuctl-shared";

/// `schema`, in which each map with `x-gpuctl-shared: NAME` has taken in that part of the map
/// `parts`. Keys beside it win; where both have a map, the maps merge. What the part has comes
/// first. No such part, or one that takes in itself: GPU0402.
yaml::Node with_shared(const yaml::Node& schema, const yaml::Node& parts, yaml::SharedArena& arena,
                       diag::Sink& sink);

/// The schema of a document that has `schema` at a dotted path, and says nothing else. `[]` behind
/// a name enters the items of a list: `spec.pools[].disk`. The empty path is the document.
yaml::Node schema_at(std::string_view path, const yaml::Node& schema, yaml::Arena& arena);

}  // namespace gpuctl::catalog
