// A field of the blueprint as a reference describes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::fields {

struct Field {
  std::string path;  // `spec.gpuPools[].labels.*`: `[]` are the items of a list, `*` any key
  yaml::Node definition;
  bool required = false;
  /// Why the platform has no use for it, or for what it is part of; mostly empty.
  std::string_view refused;
};

/// What became of a path as people write it.
struct Lookup {
  std::optional<Field> field;
  // Without a field: how far the path leads, what it goes on with, and what would be there.
  std::string reached;
  std::string unknown;
  std::vector<std::string> names;
};

/// Finds a field in the definition of a document. The path may leave out `spec.` at its start;
/// indexes, `[]` and keys of maps may be written or left out.
Lookup find_field(const yaml::Node& definition, std::string_view path);

/// The fields of a value, of the items of a list, or of the values of a map; those that the
/// platform refuses are left out.
std::vector<Field> fields_of(const Field& field);

/// The first sentence of what a definition says that the field is for, without its full stop.
std::string first_sentence(const yaml::Node& definition);

/// "list of map", "integer", "text", "true or false", "map of text".
std::string type_of(const yaml::Node& definition);

/// What a value must satisfy besides its type, one text each: values, bounds, patterns, rules.
std::vector<std::string> constraints_of(const yaml::Node& definition);

/// The value at a path of a field in a document: of lists the first item that has it, with its
/// name, and of maps with any key the first such value, within everything around it. Null: the
/// document has no such field.
yaml::Node excerpt(const yaml::Node& document, std::string_view path, yaml::Arena& arena);

}  // namespace gpuctl::fields
