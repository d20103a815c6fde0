#include "imports/tidy.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "yaml/path.hpp"

namespace gpuctl::imports {

namespace {

using yaml::Node;

bool is_required(const Node& definition, std::string_view key) {
  const Node required = definition.get("required");
  return std::any_of(required.items().begin(), required.items().end(),
                     [&](const Node& name) { return name.as_string() == key; });
}

Node shorter(const Node& definition, const Node& tree, yaml::Arena& arena) {
  if (tree.is_list()) {
    std::vector<Node> items;
    for (const Node& item : tree.items()) {
      items.push_back(shorter(definition.get("items"), item, arena));
    }
    return arena.list(items);
  }
  const Node properties = definition.get("properties");
  if (!tree.is_map() || !properties.is_map()) return tree;
  yaml::MapBuilder out;
  std::vector<yaml::Entry> entries;
  for (const yaml::Entry& field : properties.entries()) {
    const yaml::Entry* entry = tree.find_entry(field.key.as_string());
    if (entry != nullptr) entries.push_back(*entry);
  }
  for (const yaml::Entry& entry : tree.entries()) {
    if (properties.find(entry.key.as_string()) == nullptr) entries.push_back(entry);
  }
  for (const yaml::Entry& entry : entries) {
    const std::string_view key = entry.key.as_string();
    const Node field = properties.get(key);
    const Node* otherwise = field.find("default");
    const bool optional = !is_required(definition, key);
    const Node value = shorter(field, entry.value, arena);
    const bool emptied = value.is_map() && value.size() == 0 && entry.value.size() != 0;
    // An object without a default is absent when it is left out, which is another thing than empty.
    if (optional && otherwise != nullptr &&
        (emptied || yaml::equal(value, shorter(field, *otherwise, arena))))
      continue;
    out.set(entry.key, value);
  }
  return out.build(arena);
}

Node without_step(const Node& tree, std::span<const yaml::PathStep> path, yaml::Arena& arena) {
  const Node* below = yaml::step_into(tree, path.front());
  if (below == nullptr) return tree;
  const bool last = path.size() == 1;
  const Node changed = last ? Node() : without_step(*below, path.subspan(1), arena);
  if (tree.is_list()) {
    std::vector<Node> items;
    for (const Node& item : tree.items()) {
      if (&item != below) {
        items.push_back(item);
      } else if (!last) {
        items.push_back(changed);
      }
    }
    return arena.list(items);
  }
  yaml::MapBuilder out(tree);
  if (last) {
    out.remove(path.front().text);
  } else {
    out.set(arena, path.front().text, changed);
  }
  return out.build(arena);
}

}  // namespace

Node without_defaults(const schema::Schema& schema, const Node& tree, yaml::Arena& arena) {
  return shorter(schema::definition(schema), tree, arena);
}

Node without(const Node& tree, std::string_view path, yaml::Arena& arena) {
  const std::optional<std::vector<yaml::PathStep>> steps = yaml::parse_path(path);
  return !steps || steps->empty() ? tree : without_step(tree, *steps, arena);
}

Node without_field(const Node& tree, std::string_view dotted, yaml::Arena& arena) {
  if (tree.is_list()) {
    std::vector<Node> items;
    for (const Node& item : tree.items()) items.push_back(without_field(item, dotted, arena));
    return arena.list(items, tree.origin());
  }
  const std::size_t dot = dotted.find('.');
  const yaml::Entry* entry = tree.find_entry(dotted.substr(0, dot));
  if (entry == nullptr) return tree;
  yaml::MapBuilder out(tree);
  if (dot == std::string_view::npos) {
    out.remove(dotted);
  } else {
    out.set(entry->key, without_field(entry->value, dotted.substr(dot + 1), arena));
  }
  return out.build(arena, tree.origin());
}

}  // namespace gpuctl::imports
