#include "fields/json_schema.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "yaml/emit.hpp"

namespace gpuctl::fields {

namespace {

using yaml::Arena;
using yaml::Entry;
using yaml::MapBuilder;
using yaml::Node;

constexpr std::string_view kDialect = "http://json-schema.org/draft-07/schema#";

// Keywords that mean the same there, with a scalar or a list of values behind them.
constexpr std::string_view kSame[] = {
    "title",   "default", "enum",          "minLength",     "maxLength",  "minItems",   "maxItems",
    "minimum", "maximum", "minProperties", "maxProperties", "multipleOf", "uniqueItems"};

// RE2 has groups and escapes that ECMAScript reads otherwise, or not at all.
bool is_portable(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.substr(i).starts_with("(?") && !pattern.substr(i).starts_with("(?:")) return false;
    if (pattern.substr(i).starts_with("[[:")) return false;
    if (pattern[i] != '\\') continue;
    ++i;
    if (i < pattern.size() &&
        std::string_view("AzZQEpPCa").find(pattern[i]) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

bool is_true(const Node& definition, std::string_view key) {
  return definition.get(key).as_boolean();
}

class Translator {
 public:
  Translator(Completeness completeness, Arena& arena)
      : partial_(completeness == Completeness::partial), arena_(arena) {}

  // `closed`: it stands where fields are declared, not where values are only restricted.
  Node translate(const Node& definition, bool closed) {
    MapBuilder out;
    type(definition, out);
    for (const char* key : {"description"}) {
      if (definition.get(key).is_string()) out.set(arena_, key, definition.get(key));
    }
    for (const std::string_view key : kSame) {
      if (const Node* value = definition.find(key)) out.set(arena_, key, *value);
    }
    if (partial_ && definition.find("enum") != nullptr) with_null(definition, out);
    if (partial_) {
      for (const char* key : {"minItems", "minProperties"}) out.remove(key);
    }
    exclusive(definition, "exclusiveMinimum", "minimum", out);
    exclusive(definition, "exclusiveMaximum", "maximum", out);
    const Node pattern = definition.get("pattern");
    if (pattern.is_string() && is_portable(pattern.as_string())) {
      out.set(arena_, "pattern", pattern);
    }
    if (definition.get("x-kubernetes-list-type").as_string() == "set") {
      out.set(arena_, "uniqueItems", Node::boolean(true));
    }
    fields(definition, closed, out);
    const Node items = definition.get("items");
    if (items.is_map()) out.set(arena_, "items", item(definition, items, closed));
    for (const char* key : {"allOf", "anyOf", "oneOf"}) {
      std::vector<Node> branches;
      for (const Node& branch : definition.get(key).items()) {
        branches.push_back(translate(branch, false));
      }
      // A layer need not say which of them it is.
      if (!branches.empty() && !partial_) out.set(arena_, key, arena_.list(branches));
    }
    const Node negated = definition.get("not");
    if (negated.is_map() && !partial_) out.set(arena_, "not", translate(negated, false));
    return out.build(arena_);
  }

 private:
  Node text(std::string_view value) { return arena_.string(value); }

  void type(const Node& definition, MapBuilder& out) {
    std::vector<Node> types;
    if (is_true(definition, "x-kubernetes-int-or-string")) {
      types = {text("integer"), text("string")};
    } else if (definition.get("type").is_string()) {
      types = {definition.get("type")};
    }
    if (types.empty()) return;
    if (partial_ || is_true(definition, "nullable")) types.push_back(text("null"));
    out.set(arena_, "type", types.size() == 1 ? types.front() : arena_.list(types));
  }

  void with_null(const Node& definition, MapBuilder& out) {
    const auto given = definition.get("enum").items();
    std::vector<Node> values(given.begin(), given.end());
    values.emplace_back();
    out.set(arena_, "enum", arena_.list(values));
  }

  void exclusive(const Node& definition, std::string_view flag, std::string_view bound,
                 MapBuilder& out) {
    if (!is_true(definition, flag)) return;
    out.set(arena_, flag, definition.get(bound));
    out.remove(bound);
  }

  void fields(const Node& definition, bool closed, MapBuilder& out) {
    MapBuilder properties;
    for (const Entry& field : definition.get("properties").entries()) {
      if (field.value.find("x-gpuctl-refused") != nullptr) continue;
      properties.set(field.key, translate(field.value, closed));
    }
    if (!properties.empty()) out.set(arena_, "properties", properties.build(arena_));
    std::vector<Node> required;
    for (const Node& name : definition.get("required").items()) {
      const Node wanted = definition.get({"properties", name.as_string()});
      if (wanted.find("default") == nullptr) required.push_back(name);
    }
    if (!required.empty() && !partial_) out.set(arena_, "required", arena_.list(required));
    const Node others = definition.get("additionalProperties");
    if (others.is_map()) {
      out.set(arena_, "additionalProperties", translate(others, closed));
    } else if (closed && definition.get("type").as_string() == "object" && !others.as_boolean() &&
               !is_true(definition, "x-kubernetes-preserve-unknown-fields")) {
      out.set(arena_, "additionalProperties", Node::boolean(false));
    }
  }

  Node item(const Node& definition, const Node& items, bool closed) {
    Node out = translate(items, closed);
    if (!partial_ || definition.get("x-kubernetes-list-type").as_string() != "map") return out;
    MapBuilder remove;
    remove.set(arena_, "type", text("boolean"));
    remove.set(arena_, "description", text("Takes the item of this name in a base away."));
    MapBuilder properties(out.get("properties"));
    properties.set(arena_, "remove", remove.build(arena_));
    MapBuilder whole(out);
    whole.set(arena_, "properties", properties.build(arena_));
    return whole.build(arena_);
  }

  bool partial_;
  Arena& arena_;
};

// {KEY: value}
Node one(std::string_view key, const Node& value, Arena& arena) {
  MapBuilder out;
  out.set(arena, key, value);
  return out.build(arena);
}

Node one_text_list(std::string_view text, Arena& arena) {
  const Node item = arena.string(text);
  return arena.list({&item, 1});
}

Node reference(const std::string& name, Arena& arena) {
  return one("$ref", arena.string("#/definitions/" + name), arena);
}

MapBuilder head(std::string_view title, Arena& arena) {
  MapBuilder out;
  out.set(arena, "$schema", Node::view(kDialect));
  out.set(arena, "title", arena.string(title));
  return out;
}

// True of documents whose field at `path` satisfies `schema`, and that have it.
Node where(std::span<const std::string_view> path, Node schema, Arena& arena) {
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    MapBuilder level;
    level.set(arena, "required", one_text_list(*step, arena));
    level.set(arena, "properties", one(*step, schema, arena));
    schema = level.build(arena);
  }
  return schema;
}

Node if_then(const Node& condition, const Node& consequence, Arena& arena) {
  MapBuilder out;
  out.set(arena, "if", condition);
  out.set(arena, "then", consequence);
  return out.build(arena);
}

Node list_of(std::string_view key, std::initializer_list<Node> schemas, Arena& arena) {
  return one(key, arena.list({schemas.begin(), schemas.size()}), arena);
}

// The definition with all fields open that only platforms know: of layers that name none.
Node without_platform(const Node& definition, std::span<const Named> platforms, Arena& arena) {
  std::vector<Node> names;
  for (const Named& platform : platforms) names.push_back(arena.string(platform.name));
  MapBuilder platform(definition.get({"properties", "spec", "properties", "platform"}));
  platform.remove("pattern");
  platform.set(arena, "enum", arena.list(names));
  MapBuilder spec;
  spec.set(arena, "type", definition.get({"properties", "spec", "type"}));
  spec.set(arena, "description", definition.get({"properties", "spec", "description"}));
  spec.set(arena, "properties", one("platform", platform.build(arena), arena));
  MapBuilder properties(definition.get("properties"));
  properties.set(arena, "spec", spec.build(arena));
  MapBuilder out(definition);
  out.set(arena, "properties", properties.build(arena));
  return out.build(arena);
}

void emit_pretty(const Node& node, std::size_t indent, std::string& out) {
  const bool map = node.is_map();
  const std::size_t size = map ? node.entries().size() : node.items().size();
  if ((!map && node.kind() != yaml::Kind::list) || size == 0) {
    out += yaml::emit_json(node);
    return;
  }
  const std::string inner(indent + 2, ' ');
  out += map ? "{" : "[";
  for (std::size_t i = 0; i < size; ++i) {
    out += (i == 0 ? "\n" : ",\n") + inner;
    if (map) out += yaml::emit_json(node.entries()[i].key) + ": ";
    emit_pretty(map ? node.entries()[i].value : node.items()[i], indent + 2, out);
  }
  out += "\n" + std::string(indent, ' ') + (map ? "}" : "]");
}

}  // namespace

Node json_schema(const Node& definition, Completeness completeness, Arena& arena) {
  return Translator(completeness, arena).translate(definition, true);
}

Node document_schema(const Node& definition, std::string_view title, Arena& arena) {
  MapBuilder out = head(title, arena);
  for (const Entry& entry : json_schema(definition, Completeness::whole, arena).entries()) {
    out.set(entry.key, entry.value);
  }
  return out.build(arena);
}

Node blueprint_schema(std::span<const Named> platforms, Arena& arena) {
  constexpr std::string_view kPlatform[] = {"spec", "platform"};
  constexpr std::string_view kName[] = {"metadata", "name"};
  constexpr std::string_view kExtends[] = {"extends"};
  MapBuilder out = head("Blueprint of gpuctl", arena);
  out.set(arena, "type", Node::view("object"));
  if (platforms.empty()) return out.build(arena);
  MapBuilder definitions;
  std::vector<Node> by_platform;
  const Node whole =
      list_of("allOf",
              {where(kName, arena.map(std::span<const Entry>()), arena),
               one("not", where(kExtends, arena.map(std::span<const Entry>()), arena), arena)},
              arena);
  for (const Named& platform : platforms) {
    const std::string layer = platform.name + ".layer";
    definitions.set(arena, platform.name,
                    json_schema(platform.definition, Completeness::whole, arena));
    definitions.set(arena, layer, json_schema(platform.definition, Completeness::partial, arena));
    MapBuilder which;
    which.set(arena, "if", whole);
    which.set(arena, "then", reference(platform.name, arena));
    which.set(arena, "else", reference(layer, arena));
    by_platform.push_back(
        if_then(where(kPlatform, one("const", arena.string(platform.name), arena), arena),
                which.build(arena), arena));
  }
  // What holds whatever the platform, and all there is to complete before one is named.
  definitions.set(
      arena, "any",
      without_platform(json_schema(platforms.front().definition, Completeness::partial, arena),
                       platforms, arena));
  out.set(arena, "allOf", [&] {
    std::vector<Node> all = {reference("any", arena)};
    all.insert(all.end(), by_platform.begin(), by_platform.end());
    return arena.list(all);
  }());
  out.set(arena, "definitions", definitions.build(arena));
  return out.build(arena);
}

Node facts_schema(std::span<const Named> platforms, Arena& arena) {
  MapBuilder out = head("Facts of gpuctl", arena);
  MapBuilder definitions;
  std::vector<Node> any;
  for (const Named& platform : platforms) {
    definitions.set(arena, platform.name,
                    json_schema(platform.definition, Completeness::whole, arena));
    any.push_back(reference(platform.name, arena));
  }
  const auto constant = [&](std::string_view value) {
    return one("const", arena.string(value), arena);
  };
  MapBuilder name;
  name.set(arena, "type", Node::view("string"));
  name.set(arena, "description", Node::view("The cluster that these are the facts of."));
  MapBuilder metadata;
  metadata.set(arena, "type", Node::view("object"));
  metadata.set(arena, "properties", one("name", name.build(arena), arena));
  MapBuilder properties;
  properties.set(arena, "apiVersion", constant("gpuctl.dev/v1alpha1"));
  properties.set(arena, "kind", constant("Facts"));
  properties.set(arena, "metadata", metadata.build(arena));
  properties.set(arena, "spec",
                 any.size() == 1 ? any.front() : one("anyOf", arena.list(any), arena));
  out.set(arena, "type", Node::view("object"));
  const Node required[] = {Node::view("apiVersion"), Node::view("kind")};
  out.set(arena, "required", arena.list(required));
  out.set(arena, "properties", properties.build(arena));
  out.set(arena, "additionalProperties", Node::boolean(false));
  out.set(arena, "definitions", definitions.build(arena));
  return out.build(arena);
}

std::string pretty(const Node& node) {
  std::string out;
  emit_pretty(node, 0, out);
  return out + "\n";
}

}  // namespace gpuctl::fields
