#include "secrets/fields.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gpuctl::secrets {

namespace {

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// Where the value of a secret key begins in the line; npos when there is none.
std::size_t secret_value(std::string_view line, const std::vector<std::string>& names) {
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    std::size_t end = colon;
    while (end > 0 && (line[end - 1] == ' ' || line[end - 1] == '"' || line[end - 1] == '\''))
      --end;
    std::size_t begin = end;
    while (begin > 0 && in_name(line[begin - 1])) --begin;
    const std::string key = base::to_lower(line.substr(begin, end - begin));
    const bool secret = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return base::to_lower(name) == key;
    });
    if (secret) return std::min(line.find_first_not_of(' ', colon + 1), line.size());
  }
  return std::string_view::npos;
}

// True when there seems to be a Kubernetes Secret in the text, in YAML or JSON.
bool tells_secret(std::string_view text) {
  constexpr std::string_view kName = "Secret";
  constexpr std::string_view kKey = "kind";
  for (std::size_t at = text.find(kName); at != std::string_view::npos;
       at = text.find(kName, at + 1)) {
    const std::size_t end = at + kName.size();
    if (end < text.size() && in_name(text[end])) continue;
    const std::size_t last = text.substr(0, at).find_last_not_of(" \t\"':");
    if (last != std::string_view::npos && text.substr(0, last + 1).ends_with(kKey)) return true;
  }
  return false;
}

// Columns before what the line says; `- ` of a list counts as indentation.
std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(" -"), line.size());
}

}  // namespace

void add_secret_fields(const yaml::Node& schema, std::set<std::string>& names) {
  for (const yaml::Entry& field : schema.get("properties").entries()) {
    if (field.value.get("x-gpuctl-secret").as_boolean()) names.emplace(field.key.as_string());
    add_secret_fields(field.value, names);
  }
  for (const char* below : {"items", "additionalProperties"}) {
    if (schema.get(below).is_map()) add_secret_fields(schema.get(below), names);
  }
}

yaml::Node without_secrets(const yaml::Node& schema, const yaml::Node& tree, yaml::Arena& arena) {
  if (tree.is_list()) {
    std::vector<yaml::Node> items;
    for (const yaml::Node& item : tree.items()) {
      items.push_back(without_secrets(schema.get("items"), item, arena));
    }
    return arena.list(items, tree.origin());
  }
  if (!tree.is_map()) return tree;
  const yaml::Node properties = schema.get("properties");
  yaml::MapBuilder out;
  for (const yaml::Entry& entry : tree.entries()) {
    const std::string key = base::to_lower(entry.key.as_string());
    yaml::Node below = schema.get("additionalProperties");
    for (const yaml::Entry& field : properties.entries()) {
      if (base::to_lower(field.key.as_string()) == key) below = field.value;
    }
    if (below.get("x-gpuctl-secret").as_boolean()) continue;
    out.set(entry.key, without_secrets(below, entry.value, arena));
  }
  return out.build(arena, tree.origin());
}

diag::Origin place_of_secret(const yaml::Node& reference) {
  for (const char* form : {"env", "file"}) {
    if (reference.get(form).is_string()) return reference.get(form).origin();
  }
  return reference.origin();
}

void hide_fields(diag::FileId file, const std::vector<std::string>& fields,
                 diag::Sources& sources) {
  const std::string_view text = sources.file_text(file);
  std::vector<std::string> names = fields;
  if (tells_secret(text)) names.insert(names.end(), {"data", "stringData"});
  std::size_t deeper_than = std::string_view::npos;  // inside of a secret: its key's indentation
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const auto hide_from = [&](std::size_t column) {
      sources.hide(file, static_cast<std::uint32_t>(begin + column),
                   static_cast<std::uint32_t>(end));
    };
    const std::size_t indent = indentation(line);
    const bool blank = indent == line.size();
    if (deeper_than != std::string_view::npos &&
        (blank || line.find_first_not_of(' ') > deeper_than)) {
      hide_from(std::min(line.find_first_not_of(' '), line.size()));
    } else if (const std::size_t value = secret_value(line, names);
               value != std::string_view::npos) {
      hide_from(value);
      deeper_than = indent;
    } else {
      deeper_than = std::string_view::npos;
    }
    begin = end + 1;
  }
}

}  // namespace gpuctl::secrets
