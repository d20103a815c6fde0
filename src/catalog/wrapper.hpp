// The wrapper that all knowledge files have.
#pragma once

#include <string>

#include "catalog/library.hpp"

namespace gpuctl::catalog {

/// `spec` of the knowledge file at `path`; null when the file is absent.
yaml::Node spec_of(Library& library, const std::string& path);

}  // namespace gpuctl::catalog
