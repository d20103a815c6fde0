// Diagnostic codes of secrets.
#pragma once

#include <string_view>

namespace gpuctl::secrets {

inline constexpr std::string_view kSecretUnavailable = "GPU0605";  // reference cannot be resolved
inline constexpr std::string_view kSecretInOutput = "GPU0615";     // a rendered file holds a secret
inline constexpr std::string_view kSecretObject = "GPU0650";       // a Kubernetes Secret with data
inline constexpr std::string_view kSecretInInput = "GPU0651";      // looks like a secret of a kind
inline constexpr std::string_view kNamedSecret = "GPU0652";        // the name of its field says so
inline constexpr std::string_view kRandomText = "GPU0653";         // looks random
inline constexpr std::string_view kNotSearched = "GPU0654";        // too much, or too deep
inline constexpr std::string_view kIdleAllowance = "GPU0655";      // `allow` that nothing needs
inline constexpr std::string_view kFaultyRule = "GPU0656";         // rule that cannot be compiled
inline constexpr std::string_view kUnusableCertificate = "GPU0851";  // nothing can be sealed for it
inline constexpr std::string_view kEndedCertificate = "GPU0852";     // ended, or not begun
inline constexpr std::string_view kEndingCertificate = "GPU0853";    // ends soon
inline constexpr std::string_view kNoSops = "GPU0854";               // no program
inline constexpr std::string_view kSopsFailed = "GPU0855";           // the program did not do it
inline constexpr std::string_view kSopsDiffers = "GPU0856";          // or did something else
inline constexpr std::string_view kNotSealed = "GPU0857";            // the library failed

}  // namespace gpuctl::secrets
