#include "schema/field_path.hpp"

#include <utility>

namespace gpuctl::schema {

namespace {

/// The character that an escape of a quoted name stands for.
std::optional<char> unescaped(char directive) {
  switch (directive) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\'':
    case '\\':
      return directive;
    default:
      return std::nullopt;
  }
}

/// Takes `['name']` from the front of `rest`.
std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string name;
  for (std::size_t i = 2; i < rest.size(); ++i) {
    if (rest[i] == '\\') {
      const auto c = i + 1 < rest.size() ? unescaped(rest[i + 1]) : std::nullopt;
      if (!c) return std::nullopt;
      name.push_back(*c);
      ++i;
    } else if (rest[i] == '\'') {
      if (i + 1 >= rest.size() || rest[i + 1] != ']') return std::nullopt;
      rest.remove_prefix(i + 2);
      return name;
    } else {
      name.push_back(rest[i]);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> parse_field_path(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    if (text.starts_with("['")) {
      auto name = take_quoted(text);
      if (!name) return std::nullopt;
      names.push_back(*std::move(name));
      continue;
    }
    if (text.front() != '.') return std::nullopt;
    text.remove_prefix(1);
    const std::string_view name = text.substr(0, text.find_first_of(".[]"));
    if (name.empty()) return std::nullopt;
    names.emplace_back(name);
    text.remove_prefix(name.size());
  }
  return names;
}

std::string field_path_problem(const yaml::Node& definition, std::string_view text) {
  if (text.find_first_of("\r\n") != std::string_view::npos) return "it has line breaks";
  const auto names = parse_field_path(text);
  if (!names || names->empty()) return "it is no path such as `.spec.size` or `['a.b']`";
  const yaml::Node* here = &definition;
  for (const std::string& name : *names) {
    const yaml::Node* fields = here->find("properties");
    const bool named = fields != nullptr && fields->size() != 0;
    here = named ? fields->find(name) : here->find("additionalProperties");
    if (here == nullptr || (!named && !here->is_map())) return "there is no field `" + name + "`";
  }
  return {};
}

}  // namespace gpuctl::schema
