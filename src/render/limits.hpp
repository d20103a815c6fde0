// What patches may make of documents. Everything is counted, so that no input costs more than this,
// however it is written.
#pragma once

#include <cstddef>

#include "yaml/node.hpp"

namespace gpuctl::render {

/// Longest document, in bytes of JSON: what etcd takes in one request unless told otherwise
/// (https://etcd.io/docs/v3.5/dev-guide/limit/: 1.5 MiB).
inline constexpr std::size_t kMostDocumentBytes = 1536 * 1024;
/// Deepest document: what our own reader takes (yaml::ReadLimits).
inline constexpr std::size_t kMostDocumentDepth = 64;
/// All documents of a cluster together that a patch has changed or that the user brought.
inline constexpr std::size_t kMostChangedBytes = 32 * 1024 * 1024;
/// How large a tree is when its shared parts are written out.
struct Extent {
  std::size_t bytes = 0;  // of JSON, about
  std::size_t depth = 0;  // of mappings and lists in each other
  bool fits = true;       // false: over a limit, and the rest was not counted
};

/// Counts until one of the limits is passed.
Extent extent_of(const yaml::Node& tree, std::size_t most_bytes = kMostDocumentBytes,
                 std::size_t most_depth = kMostDocumentDepth);

}  // namespace gpuctl::render
