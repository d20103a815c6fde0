// Finding schema nodes by dotted path.
#include <algorithm>

#include "base/text.hpp"
#include "schema/compiled.hpp"

namespace gpuctl::schema {

namespace {

/// The field `name` of `schema`, or of what its items or map values are.
const Schema* enter(const Schema& schema, std::string_view name) {
  for (const Schema* here = &schema; here != nullptr;) {
    if (const Schema* child = here->property(name)) return child;
    if (here->items) {
      here = &here->items->get();
    } else if (here->additional) {
      here = &here->additional->get();
    } else {
      here = nullptr;
    }
  }
  return nullptr;
}

/// The values of the map behind `schema` (through lists), when it has arbitrary keys.
const Schema* map_values(const Schema& schema) {
  const Schema* here = &schema;
  while (here->items) here = &here->items->get();
  return here->additional ? &here->additional->get() : nullptr;
}

}  // namespace

const Schema* at(const Schema& schema, std::string_view path) {
  const Schema* here = &schema;
  if (path.empty()) return here;
  for (std::string_view part : base::split(path, '.')) {
    part = part.substr(0, part.find('['));  // an index says nothing about the schema
    const Schema* next = enter(*here, part);
    // A key of a map with arbitrary keys may be written or left out.
    if (next == nullptr) next = map_values(*here);
    if (next == nullptr) return nullptr;
    here = next;
  }
  return here;
}

std::vector<std::string> paths_with(const Schema& schema, std::string_view key) {
  std::vector<std::string> out;
  walk(schema, {}, [&](const Schema& node, const std::string& path) {
    if (node.definition.get(key).as_boolean()) out.push_back(path);
  });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace gpuctl::schema
