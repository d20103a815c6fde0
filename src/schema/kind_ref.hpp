// Group, version and kind: by what a published schema is found.
#pragma once

#include <string>

#include "yaml/node.hpp"

namespace gpuctl::schema {

struct KindRef {
  std::string group;  // empty for the core group
  std::string version;
  std::string kind;

  bool empty() const { return kind.empty(); }

  /// What an object says of itself by `apiVersion` and `kind`.
  static KindRef of(const yaml::Node& object) {
    const std::string_view api_version = object.get("apiVersion").as_string();
    const std::size_t slash = api_version.find('/');
    const bool core = slash == std::string_view::npos;
    return {std::string(core ? std::string_view() : api_version.substr(0, slash)),
            std::string(core ? api_version : api_version.substr(slash + 1)),
            std::string(object.get("kind").as_string())};
  }

  /// A map {group, version, kind}; empty when it is none.
  static KindRef written(const yaml::Node& reference) {
    return {std::string(reference.get("group").as_string()),
            std::string(reference.get("version").as_string()),
            std::string(reference.get("kind").as_string())};
  }
};

}  // namespace gpuctl::schema
