// What the commit of a run would do to the cluster as the last one left it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "effects/assessment.hpp"
#include "pipeline/run.hpp"

namespace gpuctl::pipeline {

/// Compares the output with the files that the lock of the last run lists, as they are now: `read`
/// gives the content of one, by its path below the cluster's directory. There must be an output and
/// a lock. What cannot be read as YAML counts as a file that is no object.
effects::Assessment effects_of(
    const Result& result,
    const std::function<std::optional<std::string>(const std::string& path)>& read);

}  // namespace gpuctl::pipeline
