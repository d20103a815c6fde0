// The sample blueprints that are built in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuctl::cli {

/// Folder of the samples in the image.
inline constexpr std::string_view kSamples = "blueprints/";

/// Their names, as `gpuctl init --from` takes them, sorted.
std::vector<std::string> sample_names();

}  // namespace gpuctl::cli
