// Facts that an installation learns, as the file that later stages read.
#pragma once

#include <string>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::facts {

/// A facts document for a cluster: `learned` merged over `known`.
std::string facts_file(const std::string& cluster_name, const yaml::Node& known,
                       const yaml::Node& learned, yaml::Arena& arena);

/// The files below a directory that fit a path in which `*` is any text within a name, by name.
std::vector<std::string> find_files(const std::string& directory, const std::string& pattern);
/// The first of them; "" when there is none.
std::string find_file(const std::string& directory, const std::string& pattern);

}  // namespace gpuctl::facts
