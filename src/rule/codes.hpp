// Diagnostic codes of rule files. The rules themselves carry codes of their own.
#pragma once

#include <string_view>

namespace gpuctl::rule {

inline constexpr std::string_view kFaultyRule = "GPU0408";  // malformed rule
inline constexpr std::string_view kIncomplete = "GPU0645";  // a rule could not be evaluated

}  // namespace gpuctl::rule
