// The names that expressions of a platform may use, with their types, and their values for one
// cluster.
#pragma once

#include <memory>
#include <vector>

#include "catalog/platform.hpp"
#include "cel/definitions.hpp"
#include "cel/program.hpp"
#include "cel/provenance.hpp"
#include "cel/store.hpp"

namespace gpuctl::derive {

/// Positions of the base variables in every environment made by base_environment().
enum BaseVariable : std::size_t { kMetadata, kSpec, kCluster, kCatalog, kFacts, kBaseVariables };

/// Variables `metadata`, `spec`, `cluster`, `catalog`, `facts`, and all functions. The types of a
/// platform's schemas are long: make it once, and share it among all that is compiled. `store`,
/// when not nullptr, has what the build compiled for this platform, or receives what is compiled.
std::shared_ptr<const cel::Environment> base_environment(
    const catalog::Platform& platform, std::shared_ptr<cel::Store> store = nullptr);

/// What expressions of derivations and rules see: the base variables, then the platform's own.
struct Scope {
  std::shared_ptr<const cel::Environment> environment;
  std::shared_ptr<const cel::Definitions> variables;
};

/// Compiles the variables of a platform (files `variables.yaml`) in its base_environment(). Faults
/// are GPU0301 and GPU0302. With `thorough` all are compiled at once, otherwise at first use.
Scope scope_of(const catalog::Platform& platform,
               std::shared_ptr<const cel::Environment> environment, bool thorough,
               diag::Sources& sources, diag::Sink& sink);

/// Functions of the language and of this program.
std::shared_ptr<const cel::Functions> functions();

/// Values in the order of BaseVariable.
struct Inputs {
  yaml::Node metadata;
  yaml::Node spec;
  yaml::Node cluster;
  yaml::Node catalog;
  yaml::Node facts;

  std::vector<cel::Value> values() const;
};

/// The inputs with marks, each tree under the name that expressions use. `cluster` is not an input
/// of the user's and is marked by whoever makes it.
Inputs mark(const Inputs& inputs, cel::Provenance& provenance, yaml::Arena& arena);

}  // namespace gpuctl::derive
