#include "yaml/held.hpp"

#include <string>

#include "yaml/read.hpp"

namespace gpuctl::yaml {

std::optional<Node> held_tree(const Node& text, Arena& arena) {
  if (text.as_string().find('\n') == std::string_view::npos) return std::nullopt;
  diag::Sources sources;
  diag::Sink none;
  const diag::FileId file = sources.add_file("text", std::string(text.as_string()));
  Arena own;
  const std::optional<Node> tree = read(file, sources, own, none, kubectl_limits());
  if (!tree || (!tree->is_map() && !tree->is_list())) return std::nullopt;
  return without_origins(*tree, arena);
}

}  // namespace gpuctl::yaml
