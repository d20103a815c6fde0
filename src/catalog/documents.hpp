// Kinds of documents that others read, from the folders documents/ of providers.
#pragma once

#include <string>
#include <vector>

#include "catalog/platform.hpp"

namespace gpuctl::catalog {

/// The kinds that these provider folders describe, by name. Every file below documents/ is a
/// DocumentSchema or DocumentRules; parts of one name are put together in the order of `folders`.
/// Faults: GPU0401, GPU0402.
std::vector<DocumentKind> load_documents(Library& library, const std::vector<std::string>& folders,
                                         diag::Sink& sink);

/// The kinds of a platform, which builds on these folders: as the build has put them together, or
/// loaded.
std::vector<DocumentKind> documents_of(Library& library, const std::string& platform,
                                       const std::vector<std::string>& folders, diag::Sink& sink);

/// Kinds as one tree, from which documents_of() takes them in a run. Each has one fragment: its
/// whole definition.
yaml::Node prepared_documents(const std::vector<DocumentKind>& kinds, yaml::Arena& arena);

/// `releases` of a provider.yaml.
Releases read_releases(const yaml::Node& written);

/// The releases that the command line may name, of all providers, by option.
std::vector<Releases> all_releases(Library& library);

}  // namespace gpuctl::catalog
