// Diagnostic codes of fleets.
#pragma once

#include <string_view>

namespace gpuctl::fleet {

inline constexpr std::string_view kFaultyFleet = "GPU0810";    // its file breaks the format
inline constexpr std::string_view kUnknownStage = "GPU0811";   // of a cluster
inline constexpr std::string_view kClusterTwice = "GPU0812";   // two of one stage and name
inline constexpr std::string_view kFaultyTable = "GPU0813";    // CSV, or no list of maps
inline constexpr std::string_view kUnreadTable = "GPU0814";    // its file cannot be read
inline constexpr std::string_view kFaultyCluster = "GPU0815";  // name or labels that cannot be
inline constexpr std::string_view kTooManyOfAll = "GPU0816";   // clusters, or bytes of files
inline constexpr std::string_view kNoSuchCluster = "GPU0817";  // --cluster or --stage of none
inline constexpr std::string_view kFaultyWave = "GPU0818";     // a cluster in none, or none in it

}  // namespace gpuctl::fleet
