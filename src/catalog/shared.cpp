#include "catalog/shared.hpp"

#include <array>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "catalog/codes.hpp"

namespace gpuctl::catalog {

namespace {

using yaml::Node;

// No part is that special; this ends a circle.
constexpr std::size_t kDeepestPart = 8;

Node merged(const Node& part, const Node& own, yaml::SharedArena& arena) {
  yaml::MapBuilder out(part);
  for (const yaml::Entry& entry : own.entries()) {
    const Node* taken = out.find(entry.key.as_string());
    const bool both = taken != nullptr && taken->is_map() && entry.value.is_map();
    out.set(entry.key, both ? merged(*taken, entry.value, arena) : entry.value);
  }
  return arena.map(out.entries(), own.origin());
}

// A field may have the name of the key: the format of schemas has one.
bool is_taking(const yaml::Entry& entry) {
  return entry.key.as_string() == kTakesShared && entry.value.is_string();
}

Node expanded(const Node& node, const Node& parts, yaml::SharedArena& arena, diag::Sink& sink,
              std::size_t depth) {
  if (!node.is_map()) return node;
  yaml::MapBuilder own;
  for (const yaml::Entry& entry : node.entries()) {
    if (is_taking(entry)) continue;
    own.set(entry.key, expanded(entry.value, parts, arena, sink, depth));
  }
  const Node rest = arena.map(own.entries(), node.origin());
  const Node* name = node.find(kTakesShared);
  if (name == nullptr || !name->is_string()) return rest;
  const Node part = parts.get(name->as_string());
  if (!part.is_map() || depth == kDeepestPart) {
    sink.error(kUnknownName, name->origin(),
               "no `" + std::string(name->as_string()) + "` among `shared`");
    // It takes anything, so that what it lacks is not reported as well.
    const yaml::Entry open{Node::view("x-kubernetes-preserve-unknown-fields"), Node::boolean(true)};
    return arena.map({&open, 1}, node.origin());
  }
  return merged(expanded(part, parts, arena, sink, depth + 1), rest, arena);
}

}  // namespace

Node with_shared(const Node& schema, const Node& parts, yaml::SharedArena& arena,
                 diag::Sink& sink) {
  return expanded(schema, parts, arena, sink, 0);
}

Node schema_at(std::string_view path, const Node& schema, yaml::Arena& arena) {
  constexpr std::string_view kEachItem = "[]";
  if (path.empty()) return schema;
  const diag::Origin origin = schema.origin();
  const auto around = [&](std::string_view type, std::string_view key, const Node& inner) {
    const std::array<yaml::Entry, 2> outer{arena.entry("type", Node::view(type)),
                                           arena.entry(key, inner)};
    return arena.map(outer, origin);
  };
  Node out = schema;
  std::vector<std::string_view> names = base::split(path, '.');
  for (; !names.empty(); names.pop_back()) {
    std::string_view name = names.back();
    for (; name.ends_with(kEachItem); name.remove_suffix(kEachItem.size())) {
      out = around("array", "items", out);
    }
    const yaml::Entry field = arena.entry(name, out);
    out = around("object", "properties", arena.map({&field, 1}, origin));
  }
  return out;
}

}  // namespace gpuctl::catalog
