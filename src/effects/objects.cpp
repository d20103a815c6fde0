#include "effects/objects.hpp"

#include <map>

#include "catalog/wrapper.hpp"

namespace gpuctl::effects {

namespace {

struct Identity {
  schema::KindRef kind;
  std::string name;
  std::string key;
};

// Files that are no objects, have no name, or are applied by nobody, are what they are by their
// path.
Identity identity_of(const Rows& rows, const Manifest& manifest) {
  const yaml::Node metadata = manifest.body.get("metadata");
  const std::string name(metadata.get("name").as_string());
  schema::KindRef kind = schema::KindRef::of(manifest.body);
  if (kind.empty() || name.empty() ||
      manifest.body.get("apiVersion").as_string() == catalog::kApiVersion ||
      rows.file(manifest.path) != nullptr) {
    return {{}, manifest.path, "file " + manifest.path};
  }
  const std::string space(metadata.get("namespace").as_string());
  std::string full = space.empty() ? name : space + "/" + name;
  std::string key = "object " + kind.group + " " + kind.kind + " " + full;
  return {std::move(kind), std::move(full), std::move(key)};
}

}  // namespace

std::vector<Pair> pairs_that_differ(const Rows& rows, const Side& earlier, const Side& later) {
  std::map<std::string, Pair> pairs;
  for (const Manifest& manifest : earlier.manifests) {
    Identity identity = identity_of(rows, manifest);
    pairs.try_emplace(identity.key, Pair{&manifest, nullptr, identity.kind, identity.name});
  }
  for (const Manifest& manifest : later.manifests) {
    Identity identity = identity_of(rows, manifest);
    Pair& pair =
        pairs.try_emplace(identity.key, Pair{nullptr, nullptr, identity.kind, identity.name})
            .first->second;
    if (pair.now == nullptr) pair.now = &manifest;
  }
  std::vector<Pair> out;
  for (const auto& [key, pair] : pairs) {
    const bool both = pair.old != nullptr && pair.now != nullptr;
    if (both && pair.old->layer == pair.now->layer && yaml::equal(pair.old->body, pair.now->body)) {
      continue;
    }
    out.push_back(pair);
  }
  return out;
}

}  // namespace gpuctl::effects
