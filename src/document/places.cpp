#include "document/places.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "yaml/path.hpp"

namespace gpuctl::document {

namespace {

using yaml::Node;

class Lending {
 public:
  Lending(yaml::Arena& arena, std::map<diag::Origin, diag::Origin>& around)
      : arena_(arena), around_(around) {}

  Node lend(const Node& node, diag::Origin outside) {
    const bool written = node.origin() != diag::kNoOrigin;
    const diag::Origin near = written ? node.origin() : outside;
    Node out = node;
    if (node.is_map()) {
      std::vector<yaml::Entry> entries(node.entries().begin(), node.entries().end());
      for (yaml::Entry& entry : entries) entry.value = lend(entry.value, near);
      out = arena_.map(entries, node.origin());
    } else if (node.is_list()) {
      std::vector<Node> items(node.items().begin(), node.items().end());
      for (Node& item : items) item = lend(item, near);
      out = arena_.list(items, node.origin());
    }
    if (written || outside == diag::kNoOrigin) return out;
    around_.emplace(--next_, outside);
    return out.with_origin(next_);
  }

 private:
  yaml::Arena& arena_;
  std::map<diag::Origin, diag::Origin>& around_;
  diag::Origin next_ = std::numeric_limits<diag::Origin>::max();  // far from spans and marks
};

}  // namespace

Lent lend_places(const Node& tree, yaml::Arena& arena) {
  Lent out;
  out.tree = Lending(arena, out.around).lend(tree, diag::kNoOrigin);
  return out;
}

Node in_place_of(const Node& old, const Node& made, yaml::Arena& arena) {
  Node out = made;
  if (made.is_list() && old.is_list()) {
    std::vector<Node> items(made.items().begin(), made.items().end());
    for (std::size_t i = 0; i < std::min(items.size(), old.size()); ++i) {
      items[i] = in_place_of(old.items()[i], items[i], arena);
    }
    out = arena.list(items, made.origin());
  }
  return out.origin() == diag::kNoOrigin ? out.with_origin(old.origin()) : out;
}

std::string written_path(const Node& document, const std::string& path, diag::Origin at) {
  const auto steps = yaml::parse_path(path);
  if (!steps) return path;
  const Node* node = &document;
  std::string above;
  for (const yaml::PathStep& step : *steps) {
    const Node* next = yaml::step_into(*node, step);
    if (next == nullptr) {
      if (&step == &steps->back() && node->is_map() && !step.bracketed) return path;
      const std::string shown = at == diag::kNoOrigin ? std::string() : yaml::path_to(document, at);
      return shown.empty() ? above : shown;
    }
    const std::string text = step.bracketed ? "[" + step.text + "]" : yaml::key_step(step.text);
    above += above.empty() && text.starts_with('.') ? text.substr(1) : text;
    node = next;
  }
  return path;
}

}  // namespace gpuctl::document
