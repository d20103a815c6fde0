// Diagnostic codes of locks and plans.
#pragma once

#include <string_view>

namespace gpuctl::plan {

inline constexpr std::string_view kFaultyLock = "GPU0611";       // lock file unusable
inline constexpr std::string_view kLockOfAnother = "GPU0682";    // lock of another cluster
inline constexpr std::string_view kNewerLock = "GPU0683";        // lock of a newer gpuctl
inline constexpr std::string_view kEdited = "GPU0612";           // managed file was edited
inline constexpr std::string_view kForeign = "GPU0613";          // file in the way is not ours
inline constexpr std::string_view kWithheldManaged = "GPU0614";  // a managed file is now withheld
inline constexpr std::string_view kStaysBehind = "GPU0616";      // removed from Git, not live
inline constexpr std::string_view kLeavesInSteps = "GPU0617";    // goes with the next step

}  // namespace gpuctl::plan
