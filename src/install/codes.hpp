// Diagnostic codes of installing, watching and destroying clusters. docs/codes/ has a page for
// each.
#pragma once

#include <string_view>

namespace gpuctl::install {

inline constexpr std::string_view kPlaceUnusable = "GPU0701";     // directory of the journal
inline constexpr std::string_view kInUse = "GPU0702";             // another run has the cluster
inline constexpr std::string_view kFaultyJournal = "GPU0703";     // a line of it cannot be read
inline constexpr std::string_view kOtherCluster = "GPU0704";      // the journal is of another one
inline constexpr std::string_view kNothingToInstall = "GPU0705";  // platform without steps
inline constexpr std::string_view kNoSuchStep = "GPU0706";        // --until
inline constexpr std::string_view kProgramFailed = "GPU0707";     // exit code of a program
inline constexpr std::string_view kKnownCause = "GPU0708";        // a signature in its log
inline constexpr std::string_view kIdentityChanged = "GPU0709";   // infraID of an attempt
inline constexpr std::string_view kNothingYielded = "GPU0710";    // files that are not there
inline constexpr std::string_view kWaitedLong = "GPU0711";        // a condition that never came
inline constexpr std::string_view kNotApplied = "GPU0712";        // the API server refuses
inline constexpr std::string_view kNotDestroyed = "GPU0713";      // stuck, or not verified
inline constexpr std::string_view kInterrupted = "GPU0714";       // by a signal
inline constexpr std::string_view kNotConfirmed = "GPU0715";      // destroy without the name
inline constexpr std::string_view kNoJournal = "GPU0716";         // status, destroy of no cluster
inline constexpr std::string_view kUnreadable = "GPU0717";        // what the installer wrote
inline constexpr std::string_view kRefusedByLog = "GPU0718";      // a message that is a failure
inline constexpr std::string_view kUnwritable = "GPU0719";        // file of an attempt
inline constexpr std::string_view kDiffers = "GPU0720";      // what is there is not what is wanted
inline constexpr std::string_view kNotLookedAt = "GPU0721";  // whether it is there cannot be told
inline constexpr std::string_view kNotMade = "GPU0722";      // the platform refuses to make it
inline constexpr std::string_view kMadeBroken = "GPU0723";   // it is there, and has failed
inline constexpr std::string_view kNotReady = "GPU0724";     // a check that must not fail fails
inline constexpr std::string_view kHopeless = "GPU0725";     // what is waited for has failed

}  // namespace gpuctl::install
