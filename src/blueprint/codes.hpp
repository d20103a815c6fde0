// Diagnostic codes of blueprints, facts and locks as files.
#pragma once

#include <string_view>

namespace gpuctl::blueprint {

inline constexpr std::string_view kRefusedField = "GPU0213";     // the platform has no such field
inline constexpr std::string_view kNotABlueprint = "GPU0601";    // document of another kind
inline constexpr std::string_view kFaultyFacts = "GPU0602";      // facts file of another kind
inline constexpr std::string_view kFactsOfAnother = "GPU0680";   // facts of another cluster
inline constexpr std::string_view kIdentityChanged = "GPU0681";  // a fact that cannot change did

}  // namespace gpuctl::blueprint
