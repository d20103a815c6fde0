#include "document/match.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gpuctl::document {

namespace {

using yaml::Node;

constexpr std::size_t kMostAlternatives = 100;

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char one, char other) { return lower(one) == lower(other); });
}

// The value under a key; one in another case counts, as some readers take it. nullptr: none, or
// null.
const Node* below(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  if (found == nullptr) {
    for (const yaml::Entry& entry : node.entries()) {
      if (!same_but_for_case(entry.key.as_string(), key)) continue;
      found = &entry.value;
      break;
    }
  }
  return found == nullptr || found->is_null() ? nullptr : found;
}

// Follows a path: dotted, or a list of keys where one of them has a dot.
const Node* at(const Node& document, const Node& path) {
  const Node* node = &document;
  if (path.is_list()) {
    for (const Node& step : path.items()) {
      node = node == nullptr ? nullptr : below(*node, step.as_string());
    }
    return node;
  }
  std::string_view rest = path.as_string();
  while (node != nullptr) {
    const std::size_t dot = rest.find('.');
    node = below(*node, rest.substr(0, dot));
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  return node;
}

bool one_of(const Node& wanted, const Node& value) {
  if (wanted.is_list()) {
    return std::any_of(wanted.items().begin(), wanted.items().end(),
                       [&](const Node& item) { return yaml::equal(item, value); });
  }
  return yaml::equal(wanted, value);
}

// Whether the text is YAML with `key` at its top: a line at the depth of the first one.
bool has_top_key(std::string_view text, std::string_view key) {
  std::size_t depth = std::string_view::npos;
  for (std::string_view line : base::split(text, '\n')) {
    const std::size_t indent = line.find_first_not_of(" \r");
    if (indent == std::string_view::npos || line[indent] == '#' || line.starts_with("---"))
      continue;
    if (depth == std::string_view::npos) depth = indent;
    if (indent != depth) continue;
    line.remove_prefix(indent);
    const char quote = line.front() == '"' || line.front() == '\'' ? line.front() : '\0';
    if (quote != '\0') line.remove_prefix(1);
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (quote != '\0' && line.starts_with(quote)) line.remove_prefix(1);
    const std::size_t colon = line.find_first_not_of(' ');
    if (colon != std::string_view::npos && line[colon] == ':') return true;
  }
  return false;
}

// Whether one of the texts below `above` holds YAML with all these keys at its top.
bool holds(const Node& above, const Node& keys) {
  return std::any_of(above.entries().begin(), above.entries().end(), [&](const yaml::Entry& entry) {
    return entry.value.is_string() &&
           std::all_of(keys.items().begin(), keys.items().end(), [&](const Node& key) {
             return has_top_key(entry.value.as_string(), key.as_string());
           });
  });
}

bool fits(const Node& alternative, const Node& document) {
  for (const yaml::Entry& entry : alternative.get("where").entries()) {
    const Node* value = at(document, entry.key);
    if (value == nullptr || !one_of(entry.value, *value)) return false;
  }
  for (const yaml::Entry& entry : alternative.get("holds").entries()) {
    const Node* above = at(document, entry.key);
    if (above == nullptr || !holds(*above, entry.value)) return false;
  }
  const auto present = [&](const Node& path) { return at(document, path) != nullptr; };
  const Node has = alternative.get("has");
  const Node lacks = alternative.get("lacks");
  return std::all_of(has.items().begin(), has.items().end(), present) &&
         std::none_of(lacks.items().begin(), lacks.items().end(), present);
}

// 0 when nothing fits; the first alternative is the surest.
std::size_t certainty(const catalog::DocumentKind& kind, const Node& document) {
  for (std::size_t i = 0; i < kind.matches.size(); ++i) {
    if (fits(kind.matches[i], document))
      return kMostAlternatives - std::min(i, kMostAlternatives - 1);
  }
  return 0;
}

}  // namespace

std::optional<Match> match(const std::vector<catalog::DocumentKind>& kinds, const Node& document) {
  if (!document.is_map()) return std::nullopt;
  const auto by_name = [&](std::string_view name) {
    return std::find_if(kinds.begin(), kinds.end(),
                        [&](const catalog::DocumentKind& kind) { return kind.name == name; });
  };
  std::optional<Match> best;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const Fit fit{kinds[i].depth, certainty(kinds[i], document)};
    if (fit.certainty == 0 || (best && fit <= best->fit)) continue;
    bool general = true;
    for (auto above = by_name(kinds[i].extends); above != kinds.end() && general;
         above = by_name(above->extends)) {
      general = certainty(*above, document) != 0;
    }
    if (general) best = Match{i, fit};
  }
  return best;
}

}  // namespace gpuctl::document
