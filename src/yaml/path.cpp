#include "yaml/path.hpp"

#include <algorithm>
#include <charconv>

namespace gpuctl::yaml {

namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Reads `[...]` at `at`, which stands on the bracket; moves it behind. Nothing when malformed.
std::optional<PathStep> bracketed(std::string_view text, std::size_t& at) {
  const char quote = at + 1 < text.size() ? text[at + 1] : '\0';
  if (quote != '"' && quote != '\'') {
    const std::size_t close = text.find(']', at);
    if (close == std::string_view::npos || close == at + 1) return std::nullopt;
    PathStep step{std::string(text.substr(at + 1, close - at - 1)), true};
    at = close + 1;
    return step;
  }
  PathStep step;
  for (std::size_t i = at + 2; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      step.text += text[++i];
    } else if (text[i] == quote) {
      if (i + 1 >= text.size() || text[i + 1] != ']') return std::nullopt;
      at = i + 2;
      return step;
    } else {
      step.text += text[i];
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<PathStep>> parse_path(std::string_view text) {
  std::vector<PathStep> steps;
  std::size_t at = text.starts_with('.') ? 1 : 0;
  if (at == text.size()) return steps;
  while (true) {
    if (text[at] != '[') {
      const std::size_t end = std::min(text.find_first_of(".[", at), text.size());
      if (end == at) return std::nullopt;
      steps.push_back({std::string(text.substr(at, end - at)), false});
      at = end;
    }
    while (at < text.size() && text[at] == '[') {
      std::optional<PathStep> step = bracketed(text, at);
      if (!step) return std::nullopt;
      steps.push_back(std::move(*step));
    }
    if (at == text.size()) return steps;
    if (text[at] != '.' || at + 1 == text.size()) return std::nullopt;
    ++at;
  }
}

std::string key_step(std::string_view key) {
  if (!key.empty() && std::all_of(key.begin(), key.end(), is_plain)) {
    return "." + std::string(key);
  }
  std::string out = "[\"";
  for (const char c : key) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"]";
}

std::string item_step(const Node& item, std::size_t index) {
  const std::string_view name = item.get("name").as_string();
  const bool usable =
      !name.empty() && !is_number(name) &&
      std::all_of(name.begin(), name.end(), [](char c) { return is_plain(c) || c == '.'; });
  return "[" + (usable ? std::string(name) : std::to_string(index)) + "]";
}

const Node* step_into(const Node& node, const PathStep& step) {
  if (node.is_map()) return node.find(step.text);
  if (is_number(step.text)) {
    std::size_t index = 0;
    const char* end = step.text.data() + step.text.size();
    const auto read = std::from_chars(step.text.data(), end, index);
    const bool inside = read.ec == std::errc() && index < node.items().size();
    return inside ? &node.items()[index] : nullptr;
  }
  for (const Node& item : node.items()) {
    if (item.get("name").as_string() == step.text) return &item;
  }
  return nullptr;
}

namespace {

bool find_path(const Node& node, diag::Origin origin, std::string& path) {
  if (node.origin() == origin) return true;
  const std::size_t length = path.size();
  for (const Entry& entry : node.entries()) {
    path += key_step(entry.key.as_string());
    if (entry.key.origin() == origin || find_path(entry.value, origin, path)) return true;
    path.resize(length);
  }
  std::size_t index = 0;
  for (const Node& item : node.items()) {
    path += "[" + std::to_string(index++) + "]";
    if (find_path(item, origin, path)) return true;
    path.resize(length);
  }
  return false;
}

}  // namespace

std::string path_to(const Node& root, diag::Origin origin) {
  std::string path;
  if (!find_path(root, origin, path)) return {};
  return path.starts_with('.') ? path.substr(1) : path;
}

Node with_value(const Node& tree, std::span<const std::string> keys, const Node& value,
                Arena& arena) {
  if (keys.empty()) return value;
  if (!tree.is_map() && !tree.is_null()) return tree;
  MapBuilder out(tree);
  const Node* below = out.find(keys.front());
  const Node changed =
      with_value(below == nullptr ? Node() : *below, keys.subspan(1), value, arena);
  const Entry* entry = tree.find_entry(keys.front());
  out.set(arena, keys.front(), changed, entry == nullptr ? diag::kNoOrigin : entry->key.origin());
  return out.build(arena, tree.origin());
}

}  // namespace gpuctl::yaml
