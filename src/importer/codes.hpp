// Diagnostic codes of imports.
#pragma once

#include <string_view>

namespace gpuctl::importer {

inline constexpr std::string_view kLost = "GPU0631";             // the blueprint does not say this
inline constexpr std::string_view kAssumed = "GPU0632";          // the manifests do not say this
inline constexpr std::string_view kLeftOut = "GPU0633";          // needs no place in a blueprint
inline constexpr std::string_view kNothingToImport = "GPU0634";  // no manifests, or no platform
inline constexpr std::string_view kKeptAsWritten = "GPU0635";    // by an override or as a manifest
inline constexpr std::string_view kSecretLeftOut = "GPU0636";    // a secret is not copied
inline constexpr std::string_view kHarmful = "GPU0637";          // a loss that would do harm

}  // namespace gpuctl::importer
