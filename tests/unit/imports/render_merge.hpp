// RFC 7386, written once more: what the patches of an import are for is not below it.
#pragma once

#include "yaml/node.hpp"

namespace gpuctl::testing {

inline yaml::Node merged(const yaml::Node& target, const yaml::Node& patch, yaml::Arena& arena) {
  if (!patch.is_map()) return patch;
  yaml::MapBuilder out(target);
  for (const yaml::Entry& entry : patch.entries()) {
    const std::string_view key = entry.key.as_string();
    if (entry.value.is_null()) {
      out.remove(key);
    } else {
      out.set(arena, key, merged(target.get(key), entry.value, arena));
    }
  }
  return out.build(arena);
}

}  // namespace gpuctl::testing
