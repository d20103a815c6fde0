// Codes of the command that examines what a cluster depends on. docs/codes/ has a page for each.
#pragma once

#include <string_view>

namespace gpuctl::doctor {

inline constexpr std::string_view kFaultyCheck = "GPU0900";  // a row contradicts itself
inline constexpr std::string_view kNoSuchCheck = "GPU0901";  // asked for by name
inline constexpr std::string_view kNoNetwork = "GPU0902";    // a library cannot be loaded
inline constexpr std::string_view kNoResolver = "GPU0903";   // what was given is no name server

}  // namespace gpuctl::doctor
