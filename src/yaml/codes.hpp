// Codes of the diagnostics of the YAML reader; each has a page in docs/codes.
#pragma once

#include <string_view>

namespace gpuctl::yaml {

inline constexpr std::string_view kBadCharacter = "GPU0101";  // bytes that are no plain UTF-8 text
inline constexpr std::string_view kSyntax = "GPU0102";        // not YAML
inline constexpr std::string_view kUnterminated = "GPU0103";  // a quote that is never closed
inline constexpr std::string_view kDuplicateKey = "GPU0104";  // the same key twice in a mapping
inline constexpr std::string_view kMergeKey = "GPU0105";      // `<<`
inline constexpr std::string_view kBadKey = "GPU0106";        // a key that is no readable string
inline constexpr std::string_view kTag = "GPU0107";           // a tag other than `!!str`
inline constexpr std::string_view kAlias = "GPU0108";         // an anchor or alias that is refused
inline constexpr std::string_view kAmbiguousScalar = "GPU0109";  // YAML 1.1 and 1.2 differ
inline constexpr std::string_view kIntegerRange = "GPU0110";     // an integer over 64 bits
inline constexpr std::string_view kManyDocuments = "GPU0111";    // more than one document
inline constexpr std::string_view kInputLimit = "GPU0112";  // size, depth or count over its limit

}  // namespace gpuctl::yaml
