#include "yaml/held.hpp"

#include <string>

namespace gpuctl::yaml {

ReadLimits held_limits() {
  constexpr std::size_t kMostAliases = 200;
  ReadLimits out = kubectl_limits();
  out.aliases = kMostAliases;
  return out;
}

std::optional<Node> held_tree(const Node& text, Arena& arena) {
  if (text.as_string().find('\n') == std::string_view::npos) return std::nullopt;
  diag::Sources sources;
  diag::Sink none;
  const diag::FileId file = sources.add_file("text", std::string(text.as_string()));
  Arena own;
  const std::optional<Node> tree = read(file, sources, own, none, held_limits());
  if (!tree || (!tree->is_map() && !tree->is_list())) return std::nullopt;
  return without_origins(*tree, arena);
}

}  // namespace gpuctl::yaml
