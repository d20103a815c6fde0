#include "cel/collections.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gpuctl::cel {

namespace {
// Steps of a linear search: one looks at so many entries.
constexpr std::size_t kEntriesPerStep = 8;
}  // namespace

std::optional<ListView> ListView::of(const Value& value) {
  ListView view;
  if (value.is_node()) {
    if (!value.node().is_list()) return std::nullopt;
    view.nodes_ = value.node().items();
    return view;
  }
  const auto* list = dynamic_cast<const ValueList*>(value.opaque());
  if (list == nullptr) return std::nullopt;
  view.values_ = &list->items;
  return view;
}

std::optional<MapView> MapView::of(const Value& value) {
  MapView view;
  if (value.is_node()) {
    if (!value.node().is_map()) return std::nullopt;
    view.node_ = value.node();
    return view;
  }
  view.opaque_ = dynamic_cast<const ValueMap*>(value.opaque());
  if (view.opaque_ == nullptr) return std::nullopt;
  return view;
}

std::optional<Value> MapView::find(const yaml::Node& key) const {
  if (opaque_ == nullptr) {
    const yaml::Node* found = key.is_string() ? node_.find(key.as_string()) : node_.find(key);
    if (found == nullptr) return std::nullopt;
    return Value(*found);
  }
  const auto found = std::find_if(opaque_->entries.begin(), opaque_->entries.end(),
                                  [&](const MapEntry& entry) { return equal(entry.key, key); });
  if (found == opaque_->entries.end()) return std::nullopt;
  return found->value;
}

std::uint64_t MapView::find_cost(const yaml::Node& key) const {
  return opaque_ == nullptr && key.is_string() ? 0 : size() / kEntriesPerStep;
}

namespace {

bool charge_nodes(const yaml::Node& node, std::uint64_t& steps) {
  if (node.is_scalar()) return true;
  if (steps < node.size()) return false;
  steps -= node.size();
  for (const yaml::Node& item : node.items()) {
    if (!item.is_scalar() && !charge_nodes(item, steps)) return false;
  }
  for (const yaml::Entry& entry : node.entries()) {
    if (!entry.value.is_scalar() && !charge_nodes(entry.value, steps)) return false;
  }
  return true;
}

}  // namespace

bool charge_size(const Value& value, std::uint64_t& steps) {
  if (value.is_node()) return charge_nodes(value.node(), steps);
  if (steps == 0) return false;
  --steps;
  const auto part = [&](const Value& inner) { return charge_size(inner, steps); };
  if (const auto* list = dynamic_cast<const ValueList*>(value.opaque())) {
    return std::all_of(list->items.begin(), list->items.end(), part);
  }
  if (const auto* map = dynamic_cast<const ValueMap*>(value.opaque())) {
    return std::all_of(map->entries.begin(), map->entries.end(),
                       [&](const MapEntry& entry) { return part(entry.value); });
  }
  const auto* optional = dynamic_cast<const OptionalValue*>(value.opaque());
  return optional == nullptr || part(optional->value);
}

std::string foreign_type(const Value& value) {
  const auto foreign = [](const Value& part) { return !part.is_node(); };
  if (const auto* list = dynamic_cast<const ValueList*>(value.opaque())) {
    const auto item = std::find_if(list->items.begin(), list->items.end(), foreign);
    if (item != list->items.end()) return foreign_type(*item);
  }
  if (const auto* map = dynamic_cast<const ValueMap*>(value.opaque())) {
    const auto entry = std::find_if(map->entries.begin(), map->entries.end(),
                                    [&](const MapEntry& part) { return foreign(part.value); });
    if (entry != map->entries.end()) return foreign_type(entry->value);
  }
  return type_name_of(value);
}

Value make_list(std::vector<Value> items, yaml::Arena& arena) {
  std::erase_if(items, [](const Value& item) { return item.is_omit(); });
  const bool nodes =
      std::all_of(items.begin(), items.end(), [](const Value& item) { return item.is_node(); });
  if (!nodes) return Value(std::make_shared<const ValueList>(std::move(items)));
  std::vector<yaml::Node> list;
  list.reserve(items.size());
  for (const Value& item : items) list.push_back(item.node());
  return arena.list(list);
}

Value make_map(std::vector<MapEntry> entries, yaml::Arena& arena) {
  std::erase_if(entries, [](const MapEntry& entry) { return entry.value.is_omit(); });
  const bool nodes = std::all_of(entries.begin(), entries.end(),
                                 [](const MapEntry& entry) { return entry.value.is_node(); });
  if (!nodes) return Value(std::make_shared<const ValueMap>(std::move(entries)));
  std::vector<yaml::Entry> map;
  map.reserve(entries.size());
  for (const MapEntry& entry : entries) map.push_back({entry.key, entry.value.node()});
  return arena.map(map);
}

}  // namespace gpuctl::cel
