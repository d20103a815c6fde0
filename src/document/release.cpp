#include "document/release.hpp"

#include <algorithm>

namespace gpuctl::document {

namespace {

using yaml::Node;

const catalog::Table* table(const catalog::Platform& platform, const std::string& name) {
  return name.empty() ? nullptr : platform.table(name);
}

}  // namespace

cel::Type release_type() {
  auto type = std::make_shared<cel::ObjectType>();
  type->name = "release";
  type->fields = {
      {"minor", cel::Type::simple(cel::TypeKind::string), true},
      {"ordinal", cel::Type::simple(cel::TypeKind::integer), true},
      {"features",
       cel::Type::map(cel::Type::simple(cel::TypeKind::string),
                      cel::Type::simple(cel::TypeKind::boolean)),
       true},
  };
  return cel::Type::object(std::move(type));
}

std::vector<std::string> releases_of(const catalog::Platform& platform) {
  std::vector<std::pair<std::int64_t, std::string>> rows;
  if (platform.releases) {
    if (const catalog::Table* known = table(platform, platform.releases->table)) {
      for (const yaml::Entry& row : known->rows.entries()) {
        rows.emplace_back(row.value.get("ordinal").as_integer(), row.key.as_string());
      }
    }
  }
  std::sort(rows.begin(), rows.end());
  std::vector<std::string> out;
  for (auto& [ordinal, name] : rows) out.push_back(std::move(name));
  return out;
}

Node release(const catalog::Platform& platform, const std::string& minor, yaml::Arena& arena) {
  std::string wanted = minor;
  if (wanted.empty() && platform.releases) wanted = platform.releases->unnamed;
  if (wanted.empty()) {
    const std::vector<std::string> known = releases_of(platform);
    if (!known.empty()) wanted = known.back();
  }
  std::int64_t ordinal = 0;
  std::vector<yaml::Entry> features;
  if (platform.releases) {
    if (const catalog::Table* rows = table(platform, platform.releases->table)) {
      ordinal = rows->rows.get(wanted).get("ordinal").as_integer();
    }
    if (const catalog::Table* rows = table(platform, platform.releases->features)) {
      for (const yaml::Entry& row : rows->rows.entries()) {
        const bool there = row.value.get("since").as_integer() <= ordinal;
        features.push_back({row.key, Node::boolean(there)});
      }
    }
  }
  yaml::MapBuilder out;
  out.set(arena, "minor", arena.string(wanted));
  out.set(arena, "ordinal", Node::integer(ordinal));
  out.set(arena, "features", arena.map(features));
  return out.build(arena);
}

}  // namespace gpuctl::document
