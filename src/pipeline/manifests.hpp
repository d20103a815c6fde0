// The middle stages: what a blueprint leads to, and the documents that say so.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "pipeline/load.hpp"
#include "pipeline/request.hpp"

namespace gpuctl::pipeline {

/// The documents of a cluster, rendered and checked as those who read them check them.
struct Manifests {
  render::Rendered rendered;
  std::optional<schema::RuleCounts> crd_rules;  // of published CRDs; absent: there were none
  /// What the origins in `rendered` are marks of; nullptr unless the request asks for it.
  std::unique_ptr<cel::Provenance> provenance;
};

/// A cluster as templates see it, for the stages from here on.
render::Cluster cluster_of(const Opened& opened, const Loaded& loaded,
                           const derive::Derived& derived);

/// The value behind a reference, right in the eyes of the kind that its template names.
std::optional<std::string> resolve_secret(const yaml::Node& reference, std::string_view checked_as,
                                          const std::string& directory, const Compiled& compiled,
                                          yaml::Context context);

/// Runs the derivation rows. What is wrong is found again with provenance, and shows the values of
/// the user behind it. Nothing when the rows have no result.
std::optional<derive::Derived> derive(const Opened& opened, const Loaded& loaded,
                                      const Request& request, yaml::Context context);

/// Renders and verifies, and encrypts secrets where the blueprint says how. Errors come with the
/// values of the user behind them; the documents are there even so, as far as they could be made.
Manifests write(const Opened& opened, const Loaded& loaded, const derive::Derived& derived,
                const std::string& blueprint_file, const Request& request, yaml::Context context);

/// Checks documents as their readers do, and against published CRDs where there are any. With
/// `secrets_left_out` the places of secrets are exempt. Gives what became of the rules of CRDs.
std::optional<schema::RuleCounts> verify(const std::vector<render::Document>& documents,
                                         const Compiled& compiled, const render::Cluster& cluster,
                                         bool secrets_left_out, const Request& request,
                                         yaml::Context context);

}  // namespace gpuctl::pipeline
