// Diagnostic codes of the diagnosis of a cluster. What is broken in the cluster is no diagnostic
// but the result; these are about what could not be looked at.
#pragma once

#include <string_view>

namespace gpuctl::diagnose {

inline constexpr std::string_view kNothingGiven = "GPU0950";     // no object and no log in it
inline constexpr std::string_view kUnreadPart = "GPU0951";       // a file that cannot be used
inline constexpr std::string_view kCutShort = "GPU0952";         // more than is looked at
inline constexpr std::string_view kNotText = "GPU0953";          // an archive, or bytes
inline constexpr std::string_view kNoAnswer = "GPU0954";         // the cluster does not tell
inline constexpr std::string_view kNoLog = "GPU0955";            // a log cannot be had
inline constexpr std::string_view kFaultyDiagnosis = "GPU0956";  // knowledge contradicts itself

}  // namespace gpuctl::diagnose
