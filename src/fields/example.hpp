// An example of a field that no blueprint at hand shows.
#pragma once

#include <optional>

#include "fields/field.hpp"

namespace gpuctl::fields {

/// A value that the definition allows: its example, its default, the first of its values, or one of
/// what it is made of. Nothing: texts that may be anything have no example of their own.
std::optional<yaml::Node> example_value(const yaml::Node& definition, yaml::Arena& arena);

/// The same for a field, within everything around it. Null: there is none.
yaml::Node example_of(const Field& field, yaml::Arena& arena);

}  // namespace gpuctl::fields
