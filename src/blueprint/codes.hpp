// Diagnostic codes of blueprints, facts and locks as files.
#pragma once

#include <string_view>

namespace gpuctl::blueprint {

inline constexpr std::string_view kRefusedField = "GPU0213";     // the platform has no such field
inline constexpr std::string_view kNotABlueprint = "GPU0601";    // document of another kind
inline constexpr std::string_view kFaultyFacts = "GPU0602";      // facts file of another kind
inline constexpr std::string_view kFactsOfAnother = "GPU0680";   // facts of another cluster
inline constexpr std::string_view kIdentityChanged = "GPU0681";  // a fact that cannot change did

inline constexpr std::string_view kFaultyExtends = "GPU0800";   // `extends` names no file
inline constexpr std::string_view kNotABase = "GPU0801";        // a base of another kind
inline constexpr std::string_view kBasesInCycle = "GPU0802";    // a base extends itself
inline constexpr std::string_view kTooManyBases = "GPU0803";    // more, or deeper, than is read
inline constexpr std::string_view kMergeConflict = "GPU0804";   // a map over a list, and the like
inline constexpr std::string_view kFaultyRemoval = "GPU0805";   // `remove` of what has fields
inline constexpr std::string_view kRemovesNothing = "GPU0806";  // nothing of that name is there

}  // namespace gpuctl::blueprint
