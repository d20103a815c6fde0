// `fieldPath` of a rule: which field below a value the rule is about, as `.spec['a.b']`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::schema {

/// The names in `text`, outermost first; nothing when it is no path of `.name` and `['name']` parts
/// (in quotes, `\'` and `\\` and the escapes for control characters stand for one character).
std::optional<std::vector<std::string>> parse_field_path(std::string_view text);

/// What is wrong with a path for values of this schema; empty when nothing is. Lists cannot be
/// entered, as for the API server.
std::string field_path_problem(const yaml::Node& definition, std::string_view text);

}  // namespace gpuctl::schema
