// Diagnostic codes of knowledge files (providers/ and templates/).
#pragma once

#include <string_view>

namespace gpuctl::catalog {

inline constexpr std::string_view kKnowledgeFile = "GPU0401";    // malformed knowledge file
inline constexpr std::string_view kUnknownName = "GPU0402";      // names what is not there
inline constexpr std::string_view kUnknownPlatform = "GPU0403";  // no platform of that name
inline constexpr std::string_view kTableRow = "GPU0404";         // faulty row of a table
inline constexpr std::string_view kShadowed = "GPU0405";         // shadowed built-in file changed

}  // namespace gpuctl::catalog
