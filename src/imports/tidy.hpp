// Makes a proposed blueprint short.
#pragma once

#include <string_view>

#include "schema/schema.hpp"

namespace gpuctl::imports {

/// The tree without values that the schema's defaults fill in anyway, and without maps that become
/// empty by that and are not required. Keys stand in the order of the schema.
yaml::Node without_defaults(const schema::Schema& schema, const yaml::Node& tree,
                            yaml::Arena& arena);

/// The tree without what stands at a path as yaml::parse_path() reads it; the same tree when
/// nothing does.
yaml::Node without(const yaml::Node& tree, std::string_view path, yaml::Arena& arena);

/// The tree without a field by its dotted path, in every item of the lists on the way.
yaml::Node without_field(const yaml::Node& tree, std::string_view dotted, yaml::Arena& arena);

}  // namespace gpuctl::imports
