// Diagnostic codes of what changes do.
#pragma once

#include <string_view>

namespace gpuctl::effects {

inline constexpr std::string_view kFaultyEffect = "GPU0440";  // row that contradicts itself

}  // namespace gpuctl::effects
