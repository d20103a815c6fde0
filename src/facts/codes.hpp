// Diagnostic codes of facts that are read from installed clusters. docs/codes/ has a page for each.
#pragma once

#include <string_view>

namespace gpuctl::facts {

inline constexpr std::string_view kUnreadableSource = "GPU0660";  // no JSON, no YAML, not there
inline constexpr std::string_view kUnknownSource = "GPU0661";     // nothing in it tells a fact
inline constexpr std::string_view kDisagreement = "GPU0662";      // two sources, two values
inline constexpr std::string_view kOtherCluster = "GPU0663";      // a source of another cluster
inline constexpr std::string_view kNothingPreferred = "GPU0664";  // --prefer of no source
inline constexpr std::string_view kNoSuchFact = "GPU0665";        // --with of no fact
inline constexpr std::string_view kNoAnswer = "GPU0666";          // a cluster that does not answer
inline constexpr std::string_view kNoFacts = "GPU0667";           // nothing was learned
inline constexpr std::string_view kFileDiffers = "GPU0668";       // the file would be another one
inline constexpr std::string_view kOwnedByOther = "GPU0669";      // somebody else writes the field
inline constexpr std::string_view kDiffers = "GPU0670";           // live against committed
inline constexpr std::string_view kLeftOut = "GPU0671";           // facts that hold for the moment

}  // namespace gpuctl::facts
