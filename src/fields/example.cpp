#include "fields/example.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gpuctl::fields {

namespace {

using yaml::Node;

constexpr std::string_view kAnyKey = "example";  // of a map with keys of one's choice

bool is_empty(const Node& value) {
  return value.is_null() || (value.is_map() && value.entries().empty()) ||
         (value.is_list() && value.items().empty()) ||
         (value.is_string() && value.as_string().empty());
}

// What must be there, or else the first that has an example.
std::optional<Node> example_map(const Node& definition, yaml::Arena& arena) {
  yaml::MapBuilder out;
  bool any = false;
  for (const Node& name : definition.get("required").items()) {
    const std::optional<Node> value =
        example_value(definition.get("properties").get(name.as_string()), arena);
    if (!value) return std::nullopt;
    out.set(arena, name.as_string(), *value);
    any = true;
  }
  for (const yaml::Entry& field : definition.get("properties").entries()) {
    if (any) break;
    if (field.value.find("x-gpuctl-refused") != nullptr) continue;
    const std::optional<Node> value = example_value(field.value, arena);
    if (!value) continue;
    out.set(arena, field.key.as_string(), *value);
    any = true;
  }
  if (!any) return std::nullopt;
  return out.build(arena);
}

std::optional<Node> example_number(const Node& definition) {
  constexpr std::pair<const char*, const char*> kBounds[] = {{"minimum", "exclusiveMinimum"},
                                                             {"maximum", "exclusiveMaximum"}};
  for (const auto& [bound, excluded] : kBounds) {
    const Node value = definition.get(bound);
    if (value.is_number() && !definition.get(excluded).as_boolean()) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Node> example_value(const Node& definition, yaml::Arena& arena) {
  for (const char* key : {"example", "default"}) {
    const Node* value = definition.find(key);
    if (value != nullptr && !is_empty(*value)) return *value;
  }
  const auto values = definition.get("enum").items();
  if (!values.empty()) return values.front();
  const std::string_view type = definition.get("type").as_string();
  if (type == "boolean") return Node::boolean(true);
  if (type == "integer" || type == "number") return example_number(definition);
  if (type == "array") {
    const std::optional<Node> item = example_value(definition.get("items"), arena);
    if (!item) return std::nullopt;
    return arena.list({&*item, 1});
  }
  if (!definition.get("properties").entries().empty()) return example_map(definition, arena);
  if (!definition.get("additionalProperties").is_map()) return std::nullopt;
  const std::optional<Node> item = example_value(definition.get("additionalProperties"), arena);
  if (!item) return std::nullopt;
  const yaml::Entry entry = arena.entry(kAnyKey, *item);
  return arena.map({&entry, 1});
}

Node example_of(const Field& field, yaml::Arena& arena) {
  std::optional<Node> value = example_value(field.definition, arena);
  if (!value) return {};
  std::vector<std::string_view> steps = base::split(field.path, '.');
  std::reverse(steps.begin(), steps.end());
  for (const std::string_view step : steps) {
    const std::string_view name = step.substr(0, step.find('['));
    for (std::size_t left = step.size() - name.size(); left > 0; left -= 2) {
      value = arena.list({&*value, 1});
    }
    const yaml::Entry entry = arena.entry(name == "*" ? kAnyKey : name, *value);
    value = arena.map({&entry, 1});
  }
  return *value;
}

}  // namespace gpuctl::fields
