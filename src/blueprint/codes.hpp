// Diagnostic codes of blueprints, facts and locks as files.
#pragma once

#include <string_view>

namespace gpuctl::blueprint {

inline constexpr std::string_view kNotABlueprint = "GPU0601";  // document of another kind
inline constexpr std::string_view kFaultyFacts = "GPU0602";    // facts file of another kind

}  // namespace gpuctl::blueprint
