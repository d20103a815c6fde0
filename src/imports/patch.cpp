#include "imports/patch.hpp"

#include "imports/difference.hpp"

namespace gpuctl::imports {

using yaml::Node;

namespace {

void collect(const Node& patch, std::vector<std::string>& steps, std::vector<Leaf>& out) {
  if (!patch.is_map() || patch.size() == 0) {
    out.push_back({steps, patch});
    return;
  }
  for (const yaml::Entry& entry : patch.entries()) {
    steps.emplace_back(entry.key.as_string());
    collect(entry.value, steps, out);
    steps.pop_back();
  }
}

}  // namespace

std::string path_of(std::span<const std::string> steps) {
  std::string out;
  for (const std::string& step : steps) out = step_below(out, step);
  return out;
}

std::vector<Leaf> leaves_of(const Node& patch) {
  std::vector<Leaf> out;
  std::vector<std::string> steps;
  collect(patch, steps, out);
  return out;
}

Node with_leaf(const Node& patch, std::span<const std::string> steps, const Node& value,
               yaml::Arena& arena) {
  if (steps.empty()) return value;
  yaml::MapBuilder out(patch);
  out.set(arena, steps.front(),
          with_leaf(patch.get(steps.front()), steps.subspan(1), value, arena));
  return out.build(arena);
}

std::string exactly(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!plain) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace gpuctl::imports
