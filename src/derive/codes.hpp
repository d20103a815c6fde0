// Diagnostic codes of derivations.
#pragma once

#include <string_view>

namespace gpuctl::derive {

inline constexpr std::string_view kFaultyRow = "GPU0406";      // malformed row of a derivation
inline constexpr std::string_view kUnknownPath = "GPU0407";    // row sets what the schema lacks
inline constexpr std::string_view kChoiceInvalid = "GPU0603";  // a kept choice is no longer valid

inline constexpr std::string_view kStillUsed = "GPU0691";     // a name that is not to be retired
inline constexpr std::string_view kFaultyChoice = "GPU0684";  // a kept choice of another type

}  // namespace gpuctl::derive
