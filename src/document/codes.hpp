// Diagnostic codes of documents that others read.
#pragma once

#include <string_view>

namespace gpuctl::document {

inline constexpr std::string_view kNotChecked = "GPU0621";   // a kind that no knowledge describes
inline constexpr std::string_view kOtherCase = "GPU0622";    // a key in another case than its field
inline constexpr std::string_view kTakenAsText = "GPU0623";  // a number or boolean read as text

inline constexpr std::string_view kNoKind = "GPU0646";     // nobody can know what it is
inline constexpr std::string_view kNoVersion = "GPU0647";  // a version that the kind does not have

}  // namespace gpuctl::document
