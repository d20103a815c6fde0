// Diagnostic codes of files that a run reads, and of what stands between its stages.
#pragma once

#include <string_view>

namespace gpuctl::pipeline {

inline constexpr std::string_view kUnreadable = "GPU0002";        // file cannot be read
inline constexpr std::string_view kFactsDiffer = "GPU0606";       // facts beside the blueprint lose
inline constexpr std::string_view kSecretInClear = "GPU0641";     // `apply` would commit one
inline constexpr std::string_view kLeftOutOfGit = "GPU0642";      // document only for --install-dir
inline constexpr std::string_view kUnusablePart = "GPU0644";      // file that a field names
inline constexpr std::string_view kUnknownIgnored = "GPU0686";    // `ignore` of an unknown code
inline constexpr std::string_view kErrorIgnored = "GPU0687";      // `ignore` of an error
inline constexpr std::string_view kNoSecretObject = "GPU0858";    // only a Secret can be encrypted
inline constexpr std::string_view kNothingToPromote = "GPU0830";  // from: a cluster without a lock
inline constexpr std::string_view kNothingAlike = "GPU0831";      // none of the same platform
inline constexpr std::string_view kPromotionDiffers = "GPU0832";  // clusters that have to agree
inline constexpr std::string_view kVersionStays = "GPU0836";      // that a blueprint names

}  // namespace gpuctl::pipeline
