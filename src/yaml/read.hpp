// Reads YAML text into nodes with spans, strictly: whatever two readers could understand
// differently is an error with a position.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"
#include "yaml/node.hpp"

namespace gpuctl::yaml {

/// Limits of the reader; each is an error of its own when passed. They bound time and memory for
/// hostile input: the largest text that is accepted is read in well under a second.
struct ReadLimits {
  std::size_t bytes = 1024 * 1024;  // of the whole text
  std::size_t depth = 64;
  std::size_t nodes = 100'000;            // a list of a thousand clusters, a table of all machines
  std::size_t scalar_bytes = 256 * 1024;  // a bundle of all public certificate authorities
  std::size_t anchors = 256;              // of one document
  std::size_t aliases = 0;                // uses of anchors; 0 refuses them
  // Plain scalars that YAML 1.1 and 1.2 read differently (`yes`, `010`, `1:30`) are errors unless
  // this is set; then `1e3` is a number and the others are strings.
  bool ambiguous_scalars = false;
  // With it they are what kubectl takes them for: `yes` is true, `010` is 8; dates and numbers of
  // base 60 stay strings. Merge keys and tags of core types are taken, too, and YAML is 1.1.
  bool kubectl_scalars = false;
};

/// Limits for published documents such as CRDs, which are larger than anything a user writes.
ReadLimits published_limits();

/// Those of our own texts, with scalars as kubectl takes them: for what others wrote for it.
ReadLimits kubectl_limits();

/// Reads the one document of `file`. Nothing and diagnostics (GPU01xx) when it is not acceptable.
/// Scalars follow the YAML 1.2 core schema, integers in decimal only. Nodes point into `arena`,
/// spans go to `sources`. A text without a document gives null.
std::optional<Node> read(diag::FileId file, diag::Sources& sources, Arena& arena, diag::Sink& sink,
                         const ReadLimits& limits = {});

/// Reads a stream of documents (foreign manifests).
std::optional<std::vector<Node>> read_all(diag::FileId file, diag::Sources& sources, Arena& arena,
                                          diag::Sink& sink, const ReadLimits& limits = {});

/// How a scalar stands in the source: `offsets[i]` is the byte offset (in the file) of byte i of
/// the scalar's value, `offsets[size]` the end. Empty when the origin is no scalar of that value.
std::vector<std::uint32_t> scalar_offsets(const diag::Sources& sources, const Node& scalar);

/// The comment that ends the line of a scalar without quotes, or kNoOrigin. ` #` in the middle of
/// such a text cuts it off.
diag::Origin comment_behind(diag::Sources& sources, const Node& scalar);

}  // namespace gpuctl::yaml
