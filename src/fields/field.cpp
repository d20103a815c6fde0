#include "fields/field.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::fields {

namespace {

using yaml::Node;

constexpr std::string_view kRefused = "x-gpuctl-refused";

bool requires_field(const Node& definition, std::string_view name) {
  const auto names = definition.get("required").items();
  return std::any_of(names.begin(), names.end(),
                     [&](const Node& one) { return one.as_string() == name; });
}

// A field of a map, with what is known of those around it.
Field below(const Field& around, std::string_view name, const Node& definition) {
  const std::string_view refused = definition.get(kRefused).as_string();
  return {around.path.empty() ? std::string(name) : around.path + "." + std::string(name),
          definition, requires_field(around.definition, name),
          around.refused.empty() ? refused : around.refused};
}

Field inside(const Field& around, const char* key, const char* ending) {
  return {around.path + ending, around.definition.get(key), false, around.refused};
}

// The map that a value is, or that its items or values are.
Field innermost(Field field) {
  for (;;) {
    if (field.definition.find("properties") != nullptr) return field;
    if (field.definition.get("items").is_map()) {
      field = inside(field, "items", "[]");
    } else if (field.definition.get("additionalProperties").is_map()) {
      field = inside(field, "additionalProperties", ".*");
    } else {
      return field;
    }
  }
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> out;
  for (const std::string_view part : base::split(path, '.')) {
    const std::string_view name = part.substr(0, part.find('['));
    if (!name.empty()) out.emplace_back(name);
  }
  return out;
}

// One step of a path; nothing when the field has no such part.
std::optional<Field> step(Field here, const std::string& part) {
  for (;;) {
    if (const Node* child = here.definition.get("properties").find(part)) {
      return below(here, part, *child);
    }
    if (here.definition.get("items").is_map()) {
      here = inside(here, "items", "[]");
      continue;
    }
    if (!here.definition.get("additionalProperties").is_map()) return std::nullopt;
    Field values = inside(here, "additionalProperties", ".*");
    // The key of the map may be left out.
    if (part == "*" || innermost(values).definition.get("properties").find(part) == nullptr) {
      return values;
    }
    here = values;
  }
}

Lookup walk(const Node& definition, const std::vector<std::string>& parts) {
  Field here{{}, definition, true, {}};
  for (const std::string& part : parts) {
    std::optional<Field> next = step(here, part);
    if (!next) {
      Lookup out{.field = {}, .reached = here.path, .unknown = part, .names = {}};
      for (const Field& field : fields_of(here)) {
        out.names.push_back(field.path.substr(field.path.rfind('.') + 1));
      }
      return out;
    }
    here = std::move(*next);
  }
  return {.field = std::move(here), .reached = {}, .unknown = {}, .names = {}};
}

std::string number(const Node& value) {
  return yaml::emit_json(value);
}

void bounds(const Node& definition, std::vector<std::string>& out) {
  const auto bound = [&](const char* key, const std::string& before, const std::string& after) {
    const Node value = definition.get(key);
    if (value.is_null()) return;
    const bool one = value.is_number() && value.as_integer() == 1;
    out.push_back(before + number(value) + (one ? after.substr(0, after.rfind('s')) : after));
  };
  const auto more = [&](const char* flag) { return definition.get(flag).as_boolean(); };
  bound("minimum", more("exclusiveMinimum") ? "more than " : "at least ", "");
  bound("maximum", more("exclusiveMaximum") ? "less than " : "at most ", "");
  bound("multipleOf", "a multiple of ", "");
  bound("minLength", "at least ", " characters");
  bound("maxLength", "at most ", " characters");
  bound("minItems", "at least ", " items");
  bound("maxItems", "at most ", " items");
  bound("minProperties", "at least ", " fields");
  bound("maxProperties", "at most ", " fields");
}

void lists(const Node& definition, std::vector<std::string>& out) {
  const std::string_view kind = definition.get("x-kubernetes-list-type").as_string();
  if (kind == "set" || definition.get("uniqueItems").as_boolean()) {
    out.emplace_back("no item twice");
  }
  if (kind != "map") return;
  std::vector<std::string> keys;
  for (const Node& key : definition.get("x-kubernetes-list-map-keys").items()) {
    keys.push_back("`" + std::string(key.as_string()) + "`");
  }
  out.push_back("no two items with the same " + base::join(keys, " and "));
}

}  // namespace

Lookup find_field(const Node& definition, std::string_view path) {
  std::vector<std::string> parts = parts_of(path);
  if (!parts.empty() && definition.get("properties").find(parts.front()) == nullptr) {
    parts.insert(parts.begin(), "spec");
  }
  return walk(definition, parts);
}

std::vector<Field> fields_of(const Field& field) {
  std::vector<Field> out;
  const Field map = innermost(field);
  for (const yaml::Entry& entry : map.definition.get("properties").entries()) {
    Field one = below(map, entry.key.as_string(), entry.value);
    if (one.refused.empty()) out.push_back(std::move(one));
  }
  return out;
}

std::string first_sentence(const Node& definition) {
  const std::string_view text = definition.get("description").as_string();
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends =
        text[i] == '.' && (i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n');
    // "e.g. x" does not end a sentence.
    if (ends && !(i >= 2 && text[i - 2] == '.')) break;
    out += text[i] == '\n' ? ' ' : text[i];
  }
  return out;
}

std::string type_of(const Node& definition) {
  if (definition.get("x-kubernetes-int-or-string").as_boolean()) return "integer or text";
  const std::string_view type = definition.get("type").as_string();
  const auto of = [&](const char* key) {
    const Node inner = definition.get(key);
    return inner.is_map() ? " of " + type_of(inner) : std::string();
  };
  if (type == "array") return "list" + of("items");
  if (type == "object") return "map" + of("additionalProperties");
  if (type == "string") return "text";
  if (type == "boolean") return "true or false";
  return type.empty() ? "any value" : std::string(type);
}

std::vector<std::string> constraints_of(const Node& definition) {
  std::vector<std::string> out;
  const auto allowed = definition.get("enum").items();
  if (!allowed.empty()) {
    std::vector<std::string> values;
    for (const Node& value : allowed) {
      values.push_back("`" + (value.is_string() ? std::string(value.as_string()) : number(value)) +
                       "`");
    }
    out.push_back((values.size() == 1 ? "only " : "one of ") + base::join(values, ", "));
  }
  bounds(definition, out);
  lists(definition, out);
  if (const Node* pattern = definition.find("pattern")) {
    out.push_back("matches `" + std::string(pattern->as_string()) + "`");
  }
  for (const Node& rule : definition.get("x-kubernetes-validations").items()) {
    const Node message = rule.get("message");
    out.emplace_back(message.is_string() ? message.as_string() : rule.get("rule").as_string());
  }
  return out;
}

namespace {

Node excerpt_of(const Node& value, std::span<const std::string_view> steps, yaml::Arena& arena) {
  if (steps.empty()) return value;
  const std::string_view name = steps.front().substr(0, steps.front().find('['));
  for (const yaml::Entry& entry : value.entries()) {
    if (name != "*" && entry.key.as_string() != name) continue;
    Node inner = entry.value;
    // "[]" as often as lists lie in each other.
    const std::size_t brackets =
        (steps.front().size() - name.size()) / std::string_view("[]").size();
    if (brackets == 1 && inner.kind() == yaml::Kind::list) {
      Node found;
      for (const Node& item : inner.items()) {
        found = excerpt_of(item, steps.subspan(1), arena);
        if (found.is_null()) continue;
        const yaml::Node* called = item.find("name");
        if (found.is_map() && called != nullptr && found.find("name") == nullptr) {
          std::vector<yaml::Entry> fields = {arena.entry("name", *called)};
          fields.insert(fields.end(), found.entries().begin(), found.entries().end());
          found = arena.map(fields);
        }
        break;
      }
      if (found.is_null()) return {};
      inner = arena.list({&found, 1});
    } else {
      inner = excerpt_of(inner, steps.subspan(1), arena);
      if (inner.is_null()) return {};
    }
    const yaml::Entry kept{entry.key, inner};
    return arena.map({&kept, 1});
  }
  return {};
}

}  // namespace

Node excerpt(const Node& document, std::string_view path, yaml::Arena& arena) {
  const std::vector<std::string_view> steps = base::split(path, '.');
  return excerpt_of(document, steps, arena);
}

}  // namespace gpuctl::fields
