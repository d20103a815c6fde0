// Fields that hold secrets by their schema, and files of others that have such fields: no excerpt
// may show them, even when the file is no YAML.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "diag/sources.hpp"
#include "yaml/node.hpp"

namespace gpuctl::secrets {

/// Adds the names of the fields with `x-gpuctl-secret` below a schema as written.
void add_secret_fields(const yaml::Node& schema, std::set<std::string>& names);

/// The tree without the fields that are secrets by its schema as written.
yaml::Node without_secrets(const yaml::Node& schema, const yaml::Node& tree, yaml::Arena& arena);

/// Where a message about a reference to a secret points: its `env` or `file`, otherwise all of it.
diag::Origin place_of_secret(const yaml::Node& reference);

/// Hides what stands behind a key of one of these names (in any case): the rest of its line, and
/// the lines after it that are indented deeper. Where a Kubernetes Secret is in the file, its
/// `data` and `stringData` count as well.
void hide_fields(diag::FileId file, const std::vector<std::string>& fields, diag::Sources& sources);

}  // namespace gpuctl::secrets
