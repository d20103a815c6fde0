// The last stage: files for Git, files that hold secrets, and the search for secrets in the former.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/manifests.hpp"

namespace gpuctl::pipeline {

/// A file that holds secrets, for --install-dir.
struct SecretFile {
  std::string path;
  std::string content;
};

/// What a run leaves, in memory.
struct Output {
  plan::ClusterFiles files;
  std::vector<SecretFile> secret_files;  // empty unless the request has an `install_dir`
};

/// Puts documents and lock together. Nothing after an error: a document that only --install-dir may
/// write (GPU0641), a secret in what would be committed (GPU065x), a secret that cannot be read.
std::optional<Output> assemble(const Opened& opened, Loaded& loaded, const derive::Derived& derived,
                               const Manifests& manifests, const std::string& directory,
                               const Request& request, const std::string& knowledge_digest,
                               yaml::Context context);

}  // namespace gpuctl::pipeline
