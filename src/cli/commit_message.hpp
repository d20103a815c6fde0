// What `apply` says of its plans: on standard output, and in the message of the commit.
#pragma once

#include <string>
#include <vector>

#include "cli/planned.hpp"

namespace gpuctl::cli {

/// One line for the cluster, then its choices that moved and, unless they are many, its files.
std::string describe(const Planned& planned);

/// The message of a commit: `subject`, or one by cluster when that is empty; every file and its
/// kind of change; what was committed although it looks like a secret; and trailers
/// (Gpuctl-Version, Gpuctl-Catalog: digest of the knowledge, Gpuctl-Effect: the worst class unless
/// all clusters are new, Gpuctl-Blueprint: a line for each cluster with the SHA-256 of its file,
/// Gpuctl-Command: `command`, unless that is empty).
std::string message(const std::vector<Planned>& plans, const std::string& subject,
                    const std::string& command, const std::string& knowledge_digest);

}  // namespace gpuctl::cli
