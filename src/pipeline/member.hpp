// Blueprints that stand in a file together with others: a run takes them as it takes a file.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "yaml/context.hpp"

namespace gpuctl::pipeline {

/// One of them. Everything here may be used by several threads.
struct Member {
  std::string cluster;       // "stage/name"
  std::string file;          // it stands in, as the user named it
  std::string facts_beside;  // where its facts may lie
  /// The sources of what `layers` gives, with which those of the run begin, and their file_views().
  const diag::Sources* sources = nullptr;
  std::span<const diag::FileView> files;
  /// Digest of all files that it was made of: with the same, a message has the same place.
  std::string places;
  /// The documents that merge to the blueprint, in order; nothing after an error.
  std::function<std::optional<std::vector<yaml::Node>>(yaml::Context context)> layers;
};

/// By the names that run() is given, which are no files.
using Members = std::map<std::string, Member, std::less<>>;

/// Digest of the content of documents, wherever it stands.
std::string digest_of(const std::vector<yaml::Node>& layers);

}  // namespace gpuctl::pipeline
