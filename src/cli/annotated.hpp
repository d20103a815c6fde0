// A blueprint as YAML, with the place that each value comes from.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace gpuctl::cli {

/// As yaml::emit(), with a comment behind each value: the file and line of its origin.
std::string annotated(const yaml::Node& document, const diag::Sources& sources);

/// Records a merged blueprint: `cluster`, `blueprint`, and `origins`, a row of path and place for
/// each value.
void set_shown(const yaml::Node& document, const Result& of, ResultDocument& result);

}  // namespace gpuctl::cli
