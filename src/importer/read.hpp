// The manifests that a user names, and the platform that they are of.
#pragma once

#include <string>
#include <vector>

#include "pipeline/knowledge.hpp"
#include "yaml/context.hpp"

namespace gpuctl::importer {

struct ManifestFile {
  std::string file;
  std::vector<yaml::Node> documents;
};

struct Given {
  std::vector<ManifestFile> files;
  std::size_t others = 0;  // files in directories that are no manifests by their names
};

/// Reads files, and in directories all files by the names of manifests. What cannot be read is
/// GPU0002.
Given read_manifests(const std::vector<std::string>& paths, pipeline::Knowledge& knowledge,
                     yaml::Context context);

/// The platform whose knowledge alone fits most of the documents; where there is none, the one that
/// takes what all have in common (`anywhere` of its folder). Empty after GPU0634.
std::string platform_of(const std::vector<ManifestFile>& files, pipeline::Knowledge& knowledge,
                        diag::Sink& sink);

}  // namespace gpuctl::importer
