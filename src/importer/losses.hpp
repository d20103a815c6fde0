// What became of the manifests of an import, as diagnostics.
#pragma once

#include <memory>
#include <vector>

#include "importer/draft.hpp"

namespace gpuctl::importer {

/// Says what is lost (GPU0631), assumed (GPU0632), only read (GPU0633), kept as written (GPU0635),
/// and whose secrets stayed behind (GPU0636). No value of a secret is in any of it, nor one that
/// looks so by `rules`.
void report_losses(const Draft& draft, const std::vector<imports::Object>& objects,
                   std::shared_ptr<const secrets::Rules> rules, yaml::Context context);

}  // namespace gpuctl::importer
