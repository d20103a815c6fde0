// What the last commit had and nobody wants any more, but cannot go in one commit.
//
// GitOps controllers leave objects alone whose annotations protect them: one kind of them holds up
// what comes after, the other forgets the object, so that it is never removed. So a protected
// object goes in two commits: the first takes its protection away, and its machines when its pool
// is gone, the second takes the object away. A layer without objects goes in two commits as well: a
// controller prunes them only while the layer is still there. See decision 30.
#pragma once

#include <set>
#include <string>

#include "render/documents.hpp"

namespace gpuctl::render {

/// Adds the documents of `committed` that leave with a later commit, in the form in which they do:
/// those of kinds with `protection: confirm` that no document of `out` is. Only in layers and
/// folders in which something else stays or that are a layer. `pools` are the names of the pools
/// that the cluster has.
void add_leaving(const Committed& committed, const catalog::Platform& platform,
                 const std::set<std::string>& pools, Rendered& out, yaml::Arena& arena);

/// Layers of the last commit in which no document is left, but which stay for this commit; not
/// those in which something waits for a fact.
std::set<std::string> emptied_layers(const Committed& committed, const Rendered& rendered);

/// The layer of a path "layers/NAME/..."; empty for others.
std::string layer_of(const std::string& path);

}  // namespace gpuctl::render
