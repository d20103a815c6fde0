// Diagnostic codes of rendering, overrides and the checks on rendered documents.
#pragma once

#include <string_view>

namespace gpuctl::render {

inline constexpr std::string_view kUnknownKind = "GPU0413";     // kind without a row in kinds.yaml
inline constexpr std::string_view kFaultyDocument = "GPU0414";  // rendered document unusable
inline constexpr std::string_view kDuplicateDocument = "GPU0415";  // same object or path twice
inline constexpr std::string_view kUnsafePath = "GPU0416";         // output path leaves the cluster
inline constexpr std::string_view kNoMatch = "GPU0421";            // override matches nothing
inline constexpr std::string_view kFaultyPatch = "GPU0422";        // patch cannot be applied
inline constexpr std::string_view kExtraManifest = "GPU0423";      // extra manifest unusable
inline constexpr std::string_view kShadowed = "GPU0424";           // a field that overrides replace
inline constexpr std::string_view kBrokenDocument = "GPU0430";     // a patch left no document
inline constexpr std::string_view kTooLarge = "GPU0431";           // document over a limit
inline constexpr std::string_view kPatchesCostMuch = "GPU0432";    // patches over a limit
inline constexpr std::string_view kTooMuchInput = "GPU0433";       // extra manifests over a limit
inline constexpr std::string_view kNoCatalogue = "GPU0441";        // package of no known catalogue
inline constexpr std::string_view kNotMirrored = "GPU0442";  // nothing an air gap lets through
inline constexpr std::string_view kWithheld = "GPU0604";     // document waits for a fact

}  // namespace gpuctl::render
