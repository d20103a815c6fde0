// The first stages: the blueprint, then what it needs of earlier runs, of the world and beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/inputs.hpp"
#include "pipeline/knowledge.hpp"
#include "secrets/guard.hpp"

namespace gpuctl::pipeline {

/// A blueprint that was read, is right by the schema of its platform, and has the documents that
/// its fields name in their places.
struct Opened {
  const Compiled* compiled = nullptr;
  blueprint::Blueprint blueprint;
};

/// Everything that a blueprint leads to is worked out from this.
struct Loaded {
  std::optional<plan::Lock> old_lock;          // absent: no earlier run
  derive::Earlier earlier;                     // choices of the old lock
  std::map<std::string, std::string> adopted;  // choices of other clusters: path -> "stage/name"
  yaml::Node facts;                            // a map, empty when there are none
  std::vector<render::ExtraManifest> extra;
  render::Committed committed;  // what the old lock lists
  secrets::Guard guard;
  diag::Sink betrayed;  // secrets in the inputs; a rule may object to the same place

  /// The old lock, or nullptr.
  const plan::Lock* lock() const { return old_lock ? &*old_lock : nullptr; }
};

/// The documents that merge to a blueprint, in order: the text of its file behind its bases.
std::optional<std::vector<yaml::Node>> read_layers(std::string text, InputFiles& files,
                                                   yaml::Context context);
/// The same for one that is no file of its own.
std::optional<std::vector<yaml::Node>> layers_of(const Member& member, InputFiles& files,
                                                 yaml::Context context);

/// Opens the blueprint that documents merge to. Faults of the blueprint or of parts that it names
/// go to the sink; with some of them its cluster is known even so.
std::optional<Opened> open(std::vector<yaml::Node> layers, InputFiles& files, Knowledge& knowledge,
                           yaml::Context context);

/// Reads lock, facts and extra manifests of a blueprint. Nothing when lock or facts cannot be used.
std::optional<Loaded> load(const Opened& opened, const Request& request, InputFiles& files,
                           Knowledge& knowledge, yaml::Context context);

}  // namespace gpuctl::pipeline
