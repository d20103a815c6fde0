// Diagnostic codes of the command line and of files the user names.
#pragma once

#include <string_view>

namespace gpuctl::cli {

inline constexpr std::string_view kUsage = "GPU0001";         // wrong command line
inline constexpr std::string_view kUnwritable = "GPU0003";    // output cannot be written
inline constexpr std::string_view kUnknownCode = "GPU0004";   // `explain` of an unknown code
inline constexpr std::string_view kSameCluster = "GPU0005";   // two blueprints for one cluster
inline constexpr std::string_view kNoObject = "GPU0006";      // `explain --origin`: no document
inline constexpr std::string_view kNoField = "GPU0007";       // ... no such field in it
inline constexpr std::string_view kNoSuchField = "GPU0008";   // `explain` of no field
inline constexpr std::string_view kNoInput = "GPU0011";       // a word leads to no blueprint
inline constexpr std::string_view kNoSuchRow = "GPU0012";     // a filter leaves nothing
inline constexpr std::string_view kNoImageSet = "GPU0013";    // `mirror -o imageset` of none
inline constexpr std::string_view kNoSuchChoice = "GPU0607";  // `upgrade --only` of no choice

inline constexpr std::string_view kNoHistory = "GPU0694";    // `upgrade --to` of no known version
inline constexpr std::string_view kNoSuchStep = "GPU0695";   // ... to none that is ahead
inline constexpr std::string_view kNoWay = "GPU0696";        // ... with nothing that goes along
inline constexpr std::string_view kTooMuch = "GPU0690";      // effects above the limit
inline constexpr std::string_view kNoSuchName = "GPU0692";   // `retire` of no name
inline constexpr std::string_view kNoToken = "GPU0643";      // `license check`: no text
inline constexpr std::string_view kSharedFacts = "GPU0685";  // --facts for several clusters
inline constexpr std::string_view kUnsettled = "GPU0833";    // `promote` beside other changes
inline constexpr std::string_view kWaveAhead = "GPU0834";    // before one that still changes
inline constexpr std::string_view kWaveSoaks = "GPU0835";    // before its time is over

}  // namespace gpuctl::cli
