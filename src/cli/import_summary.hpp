// What became of the manifests of an import, as diagnostics.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/import_draft.hpp"

namespace gpuctl::cli {

/// Says what is lost (GPU0631), assumed (GPU0632), only read (GPU0633), kept as written (GPU0635),
/// and whose secrets stayed behind (GPU0636). No value of a secret is in any of it, nor one that
/// looks so by `rules`.
void report_import(const Draft& draft, const std::vector<imports::Object>& objects,
                   std::shared_ptr<const secrets::Rules> rules, diag::Sources& sources,
                   yaml::Arena& arena, diag::Sink& sink);

/// "12 documents: 10 as rendered, 2 only read".
std::string import_counts(const Draft& draft);

}  // namespace gpuctl::cli
