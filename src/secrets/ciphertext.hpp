// What encrypted values look like, each by its format: nothing else passes for one.
#pragma once

#include <cstddef>
#include <string_view>

#include "yaml/node.hpp"

namespace gpuctl::secrets {

/// Length of the authentication tag of AES-GCM, in bytes (NIST SP 800-38D: at most).
inline constexpr std::size_t kTagBytes = 16;

/// True for a value as SOPS writes it: `ENC[AES256_GCM,data:...,iv:...,tag:...,type:...]`.
bool is_sops_value(std::string_view text);

/// True for an object whose `data` and `stringData` SOPS encrypted: every value is a ciphertext (an
/// empty one needs none), and its block with the keys and the authentication is there.
bool is_sops_object(const yaml::Node& object);

/// True for what a SealedSecret holds below `encryptedData`: base64 of the length of an RSA
/// ciphertext, of that, and of what AES-GCM gave, which is 16 bytes at least.
bool is_sealed_value(std::string_view text);

}  // namespace gpuctl::secrets
