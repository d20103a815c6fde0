// Encrypts the values of a Secret by the program `sops`, for who holds keys of age.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "yaml/context.hpp"

namespace gpuctl::secrets {

/// `object` with the values of its `data` and `stringData` encrypted for `recipients` (public keys
/// of age), and with the block that SOPS adds; each call gives other bytes. All else stays
/// readable. The program gets the object through its standard input, from memory, and none of its
/// secrets otherwise. What it gives is looked at: the same object, all values encrypted, for these
/// recipients and nobody else. Nothing after a diagnostic at `at` (GPU0854 to GPU0856).
std::optional<yaml::Node> encrypt_with_sops(const yaml::Node& object,
                                            const std::vector<std::string>& recipients,
                                            diag::Origin at, yaml::Context context);

/// The fields of an object whose values are encrypted, as an expression.
inline constexpr const char* kSopsFields = "^(data|stringData)$";

}  // namespace gpuctl::secrets
