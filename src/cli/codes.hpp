// Diagnostic codes of the command line and of files the user names.
#pragma once

#include <string_view>

namespace gpuctl::cli {

inline constexpr std::string_view kUsage = "GPU0001";         // wrong command line
inline constexpr std::string_view kUnreadable = "GPU0002";    // file cannot be read
inline constexpr std::string_view kUnwritable = "GPU0003";    // output cannot be written
inline constexpr std::string_view kUnknownCode = "GPU0004";   // `explain` of an unknown code
inline constexpr std::string_view kSameCluster = "GPU0005";   // two blueprints for one cluster
inline constexpr std::string_view kNoObject = "GPU0006";      // `explain --origin`: no document
inline constexpr std::string_view kNoField = "GPU0007";       // ... no such field in it
inline constexpr std::string_view kNoSuchChoice = "GPU0607";  // `upgrade --only` of no choice
inline constexpr std::string_view kSecretUnavailable = "GPU0605";  // reference cannot be resolved

// `import`
inline constexpr std::string_view kLost = "GPU0631";             // the blueprint does not say this
inline constexpr std::string_view kAssumed = "GPU0632";          // the manifests do not say this
inline constexpr std::string_view kLeftOut = "GPU0633";          // needs no place in a blueprint
inline constexpr std::string_view kNothingToImport = "GPU0634";  // no manifests, or no platform
inline constexpr std::string_view kKeptAsWritten = "GPU0635";    // by an override or as a manifest
inline constexpr std::string_view kSecretLeftOut = "GPU0636";    // a secret is not copied

// secrets
inline constexpr std::string_view kSecretInClear = "GPU0641";  // `apply` would commit one
inline constexpr std::string_view kLeftOutOfGit = "GPU0642";   // document only for --install-dir
inline constexpr std::string_view kNoToken = "GPU0643";        // `license check`: no text
inline constexpr std::string_view kUnusablePart = "GPU0644";   // file that a field names

inline constexpr std::string_view kFactsDiffer = "GPU0606";     // facts beside the blueprint lose
inline constexpr std::string_view kUnknownIgnored = "GPU0686";  // `ignore` of an unknown code
inline constexpr std::string_view kErrorIgnored = "GPU0687";    // `ignore` of an error
inline constexpr std::string_view kSharedFacts = "GPU0685";     // --facts for several clusters

}  // namespace gpuctl::cli
