// Diagnostic codes of bodies: YAML with expressions and directives.
#pragma once

#include <string_view>

namespace gpuctl::compose {

inline constexpr std::string_view kFaultyBody = "GPU0411";    // malformed structural key
inline constexpr std::string_view kDuplicateKey = "GPU0412";  // computed key twice

}  // namespace gpuctl::compose
