// What a user writes: a blueprint and the facts beside it, read, validated and with defaults.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/platform.hpp"
#include "yaml/context.hpp"

namespace gpuctl::blueprint {

struct Blueprint {
  std::shared_ptr<const catalog::Platform> platform;
  yaml::Node written;   // as its files have it, merged
  yaml::Node document;  // with defaults
  yaml::Node metadata;
  yaml::Node spec;
  std::string name;
  std::string stage;
  std::vector<yaml::Node> layers;  // it was merged of; empty: of one document
};

/// Finds the knowledge for `spec.platform`; reports an unknown name at `asked_at` and gives
/// nullptr.
using FindPlatform = std::function<std::shared_ptr<const catalog::Platform>(
    const std::string& name, diag::Origin asked_at, diag::Sink& sink)>;

/// The blueprint that documents merge to, the later over the earlier, as merge() says: platform
/// (GPU0403), schema (GPU02xx). Relative paths of other directories become relative to `directory`.
std::optional<Blueprint> load(std::vector<yaml::Node> layers, const std::string& directory,
                              const FindPlatform& find_platform, yaml::Context context);

/// Hides values of fields with `x-gpuctl-secret`, and of unknown fields beside them, in excerpts.
void hide_secrets(const schema::Schema& schema, const yaml::Node& document, diag::Sources& sources);

/// Reads a facts file (`kind: Facts`), checks that it is of this cluster (GPU0680), and checks it
/// against the platform's schema of facts.
std::optional<yaml::Node> load_facts(diag::FileId file, const Blueprint& blueprint,
                                     yaml::Context context);

/// Facts with `x-gpuctl-identity` say which cluster it is, and stay: one that has another value in
/// `now` than in `before`, the facts in the file `found_in` of the output, is GPU0681.
void check_identity(const yaml::Node& before, const yaml::Node& now, std::string_view found_in,
                    const Blueprint& blueprint, diag::Sink& sink);

}  // namespace gpuctl::blueprint
