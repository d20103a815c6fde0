// The wrapper that all knowledge files have.
#pragma once

#include <string>
#include <string_view>

#include "catalog/library.hpp"

namespace gpuctl::catalog {

/// `apiVersion` of every file that is ours.
inline constexpr std::string_view kApiVersion = "gpuctl.dev/v1alpha1";

/// Kind of the files that templates extend: what several have in common, and not rendered by
/// itself.
inline constexpr std::string_view kTemplateBase = "TemplateBase";

/// `spec` of the knowledge file at `path`; null when the file is absent.
yaml::Node spec_of(Library& library, const std::string& path);

}  // namespace gpuctl::catalog
