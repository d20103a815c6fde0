#include "document/likeness.hpp"

#include <vector>

#include "base/text.hpp"
#include "yaml/path.hpp"

namespace gpuctl::document {

namespace {

using yaml::Node;

std::vector<std::string> keys_of(std::string_view path) {
  std::vector<std::string> keys;
  for (const std::string_view step : base::split(path, '.')) keys.emplace_back(step);
  return keys;
}

bool ends_step(std::string_view rest) {
  return rest.empty() || rest.front() == '.' || rest.front() == '[';
}

std::string path_behind(const Node& places, std::string_view text) {
  for (const yaml::Entry& row : places.entries()) {
    const std::string_view there = row.key.as_string();
    if (!text.starts_with(there) || !ends_step(text.substr(there.size()))) continue;
    return std::string(row.value.as_string()) + std::string(text.substr(there.size()));
  }
  return std::string(text);
}

std::string text_behind(const Node& places, std::string_view text) {
  std::string out;
  for (std::size_t tick = text.find('`'); tick != std::string_view::npos; tick = text.find('`')) {
    const std::size_t end = text.find('`', tick + 1);
    if (end == std::string_view::npos) break;
    out += text.substr(0, tick + 1);
    out += path_behind(places, text.substr(tick + 1, end - tick - 1));
    out += '`';
    text.remove_prefix(end + 1);
  }
  return out + std::string(text);
}

}  // namespace

std::optional<Node> likeness(const Node& judged_as, const Node& document, yaml::Arena& arena) {
  if (!judged_as.is_map()) return std::nullopt;
  Node out = arena.map(std::span<const yaml::Entry>(), document.origin());
  for (const yaml::Entry& row : judged_as.get("sets").entries()) {
    out = yaml::with_value(out, keys_of(row.key.as_string()),
                           yaml::without_origins(row.value, arena), arena);
  }
  for (const yaml::Entry& row : judged_as.get("places").entries()) {
    const Node* from = &document;
    for (const std::string& key : keys_of(row.value.as_string())) {
      from = from == nullptr ? nullptr : from->find(key);
    }
    if (from == nullptr || from->is_null()) continue;
    out = yaml::with_value(out, keys_of(row.key.as_string()), *from, arena);
  }
  return out;
}

diag::Diagnostic behind(const Node& judged_as, diag::Diagnostic finding) {
  const Node places = judged_as.get("places");
  finding.path = path_behind(places, finding.path);
  finding.message = text_behind(places, finding.message);
  finding.primary.text = text_behind(places, finding.primary.text);
  finding.expected = text_behind(places, finding.expected);
  for (std::string& help : finding.help) help = text_behind(places, help);
  return finding;
}

}  // namespace gpuctl::document
