// Diagnostic codes of the choice of versions.
#pragma once

#include <string_view>

namespace gpuctl::versions {

inline constexpr std::string_view kFaultyAxis = "GPU0409";  // malformed row of versions.yaml

}  // namespace gpuctl::versions
