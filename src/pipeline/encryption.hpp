// How secrets behind references get into Git encrypted, and when they are encrypted anew.
#pragma once

#include <string>

#include "pipeline/manifests.hpp"

namespace gpuctl::pipeline {

/// Whether the blueprint says how secrets are encrypted for Git.
bool encrypts(const derive::Derived& derived);

/// What encrypts documents of this cluster as `cluster.gitops.encryption` says; empty when it says
/// nothing, or after diagnostics (GPU0851 to GPU0853, about a certificate). What is committed is
/// kept as long as the same secrets are wanted for the same keys, by their references: no secret is
/// read then. Otherwise they are read (paths are relative to `directory`) and encrypted, or a
/// request that does not `encrypt` gets stand-ins. What it says goes to `context`; all but that
/// must outlive it.
render::Encrypt encryption(const Opened& opened, const Loaded& loaded,
                           const derive::Derived& derived, const std::string& directory,
                           const Request& request, yaml::Context context);

}  // namespace gpuctl::pipeline
