// The rules by which secrets are known, from the folders secrets/ of all providers.
#pragma once

#include <vector>

#include "catalog/library.hpp"

namespace gpuctl::catalog {

/// `spec` of every file of kind SecretRules, by path. They hold for all platforms: a credential is
/// one wherever it stands.
std::vector<yaml::Node> secret_rules(Library& library);

}  // namespace gpuctl::catalog
