#include "document/match.hpp"

#include <algorithm>
#include <span>

#include "base/text.hpp"

namespace gpuctl::document {

namespace {

using yaml::Node;

constexpr std::size_t kMostAlternatives = 100;

// What stands under a key; one in another case counts, as some readers take it.
const Node* below(const Node& node, std::string_view step) {
  if (const Node* same = node.find(step)) return same;
  for (const yaml::Entry& entry : node.entries()) {
    const std::string_view key = entry.key.as_string();
    if (key.size() == step.size() && base::to_lower(key) == base::to_lower(step)) {
      return &entry.value;
    }
  }
  return nullptr;
}

// Follows a path: dotted, or a list of keys where one of them has a dot.
const Node* at(const Node& document, const Node& path) {
  const Node* node = &document;
  const auto go = [&node](std::string_view step) {
    node = below(*node, step);
    if (node != nullptr && node->is_null()) node = nullptr;
    return node != nullptr;
  };
  if (path.is_list()) {
    for (const Node& step : path.items()) {
      if (!go(step.as_string())) return nullptr;
    }
    return node;
  }
  std::string_view rest = path.as_string();
  for (;;) {
    const std::size_t dot = rest.find('.');
    if (!go(rest.substr(0, dot)) || dot == std::string_view::npos) return node;
    rest.remove_prefix(dot + 1);
  }
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

// One condition of an alternative, by its name.
bool fits(std::string_view condition, const Node& wanted, const Node& document) {
  const auto present = [&](const Node& path) { return at(document, path) != nullptr; };
  const std::span<const Node> paths = wanted.items();
  if (condition == "has") return std::all_of(paths.begin(), paths.end(), present);
  if (condition == "lacks") return std::none_of(paths.begin(), paths.end(), present);
  const bool where = condition == "where";
  if (!where && condition != "holds") return true;
  const std::span<const yaml::Entry> entries = wanted.entries();
  return std::all_of(entries.begin(), entries.end(), [&](const yaml::Entry& entry) {
    const Node* found = at(document, entry.key);
    return found != nullptr && (where ? one_of(entry.value, *found) : holds(*found, entry.value));
  });
}

bool fits(const Node& alternative, const Node& document) {
  const std::span<const yaml::Entry> conditions = alternative.entries();
  return std::all_of(conditions.begin(), conditions.end(), [&](const yaml::Entry& condition) {
    return fits(condition.key.as_string(), condition.value, document);
  });
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
