// Releases: which fields a document may have depends on who reads it.
#pragma once

#include <string>
#include <vector>

#include "catalog/platform.hpp"

namespace gpuctl::document {

/// The type of the variable `release`: {minor: string, ordinal: int, features: map(string, bool)}.
cel::Type release_type();

/// The value of `release` for a row of the platform's table of releases; when `minor` is empty, the
/// one that the provider takes then, or the newest row. Without such a table: no features, ordinal
/// 0.
yaml::Node release(const catalog::Platform& platform, const std::string& minor, yaml::Arena& arena);

/// The releases of a platform, oldest first; empty when it has none.
std::vector<std::string> releases_of(const catalog::Platform& platform);

}  // namespace gpuctl::document
