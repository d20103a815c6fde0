#include "yaml/item_names.hpp"

#include <algorithm>
#include <set>

#include "yaml/emit.hpp"

namespace gpuctl::yaml {

namespace {

using Fields = std::vector<std::string_view>;

// The surest first.
const std::vector<Fields>& candidates() {
  static const std::vector<Fields> fields = {{"name"}, {"key", "effect"}, {"key"},
                                             {"id"},   {"type"},          {"resourceName"}};
  return fields;
}

// What names an item among others; nothing when it lacks a field.
std::optional<std::string> name_by(const Node& item, const Fields& fields) {
  std::string out;
  for (const std::string_view field : fields) {
    const Node* part = item.find(field);
    if (part == nullptr || !part->is_scalar() || part->is_null()) return std::nullopt;
    if (!out.empty()) out += ':';
    out += part->is_string() ? std::string(part->as_string()) : emit_json(*part);
  }
  return out;
}

// The names of all items; nothing when one has none, or two have the same.
std::optional<std::vector<std::string>> names_by(const Node& list, const Fields& fields) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const Node& item : list.items()) {
    std::optional<std::string> name = name_by(item, fields);
    if (!name || !seen.insert(*name).second) return std::nullopt;
    out.push_back(std::move(*name));
  }
  return out;
}

bool all_maps(const Node& list) {
  const auto items = list.items();
  return std::all_of(items.begin(), items.end(), [](const Node& item) { return item.is_map(); });
}

}  // namespace

std::optional<ItemNames> item_names(const Node& first, const Node& second) {
  if (first.size() + second.size() == 0 || !all_maps(first) || !all_maps(second)) {
    return std::nullopt;
  }
  for (const Fields& fields : candidates()) {
    auto names = names_by(first, fields);
    auto others = names ? names_by(second, fields) : std::nullopt;
    if (others) return ItemNames{fields, std::move(*names), std::move(*others)};
  }
  return std::nullopt;
}

}  // namespace gpuctl::yaml
