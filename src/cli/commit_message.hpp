// What `apply` says of its plans: on standard output, and in the message of the commit.
#pragma once

#include <string>
#include <vector>

#include "cli/planned.hpp"

namespace gpuctl::cli {

/// One line for the cluster, then its choices that moved and, unless they are many, its files.
std::string describe(const Planned& planned);

/// A line for each choice that is another one now.
std::string moved(const Planned& planned);

/// Refuses a subject in which the search for secrets is sure to have found one: commits are read
/// by many, and forever. Its codes are those of inputs (GPU0651, GPU0652).
void check_subject(const std::string& subject, Knowledge& knowledge, diag::Sink& sink);

/// The message of a commit: `subject`, or one by cluster when that is empty; every file and its
/// kind of change; what was committed although it looks like a secret; and trailers
/// (Gpuctl-Version, Gpuctl-Catalog: digest of the knowledge, Gpuctl-Effect: the worst class unless
/// all clusters are new, Gpuctl-Blueprint: a line for each cluster with the SHA-256 of its file,
/// Gpuctl-Command: `command`, unless that is empty).
std::string message(const std::vector<Planned>& plans, const std::string& subject,
                    const std::string& command, const std::string& knowledge_digest);

}  // namespace gpuctl::cli
