// Schemas of ours as JSON Schema (draft-07), for editors and validators of others.
#pragma once

#include <span>
#include <string>

#include "yaml/node.hpp"

namespace gpuctl::fields {

/// A structural schema of ours under the name of its platform.
struct Named {
  std::string name;
  yaml::Node definition;
};

enum class Completeness {
  whole,    // what a document must have is required
  partial,  // a layer of a document: nothing is required, null takes away, items may say `remove`
};

/// The JSON Schema of one definition: types, bounds, enums, patterns, defaults, descriptions;
/// objects take no other fields unless the definition says so. A field that has a default is not
/// required, one that the platform refuses is left out. Rules in CEL, and patterns that JSON Schema
/// does not know, have no counterpart and are dropped: whoever conforms to the definition conforms
/// to what comes back.
yaml::Node json_schema(const yaml::Node& definition, Completeness completeness, yaml::Arena& arena);

/// The schema of blueprints, by the platform that each names; a file that extends others, or names
/// no platform or no cluster, is a layer.
yaml::Node blueprint_schema(std::span<const Named> platforms, yaml::Arena& arena);

/// The schema of files with facts: those of any of the platforms.
yaml::Node facts_schema(std::span<const Named> platforms, yaml::Arena& arena);

/// A definition that is a whole document, with the head that JSON Schema wants.
yaml::Node document_schema(const yaml::Node& definition, std::string_view title,
                           yaml::Arena& arena);

/// JSON over several lines, two spaces a level, as files have it.
std::string pretty(const yaml::Node& node);

}  // namespace gpuctl::fields
