#include "document/match.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gpuctl::document {

namespace {

using yaml::Node;

constexpr std::size_t kMostAlternatives = 100;

// The steps of a path: dotted, or a list of keys where one of them has a dot.
std::vector<std::string_view> steps_of(const Node& path) {
  if (!path.is_list()) return base::split(path.as_string(), '.');
  std::vector<std::string_view> steps;
  for (const Node& step : path.items()) steps.push_back(step.as_string());
  return steps;
}

// Follows a path; keys in another case count, as some readers take them.
const Node* at(const Node& document, const Node& path) {
  const Node* node = &document;
  for (const std::string_view step : steps_of(path)) {
    const Node* next = node->find(step);
    for (const yaml::Entry& entry : node->entries()) {
      if (next != nullptr) break;
      const std::string_view key = entry.key.as_string();
      if (key.size() == step.size() && base::to_lower(key) == base::to_lower(step)) {
        next = &entry.value;
      }
    }
    if (next == nullptr || next->is_null()) return nullptr;
    node = next;
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
