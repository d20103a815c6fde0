#include "imports/difference.hpp"

#include "yaml/held.hpp"
#include "yaml/path.hpp"

namespace gpuctl::imports {

namespace {

using yaml::Node;

// The tree in a text, which is YAML of several lines or JSON of any.
std::optional<Node> tree_in(const Node& text, yaml::Arena& arena) {
  const std::string_view json = text.as_string();
  const bool object = json.starts_with('{') && json.ends_with('}');
  const bool list = json.starts_with('[') && json.ends_with(']');
  return yaml::held_tree(object || list ? arena.string(std::string(json) + "\n") : text, arena);
}

bool same_text(const Node& a, const Node& b) {
  if (a.as_string() == b.as_string()) return true;
  yaml::Arena arena;
  const std::optional<Node> left = tree_in(a, arena);
  const std::optional<Node> right = left ? tree_in(b, arena) : std::nullopt;
  return right && yaml::equal(*left, *right);
}

// What a patch puts there; what it takes away says nothing of what stays.
std::size_t weight(const Node& patch) {
  if (patch.is_null()) return 0;
  std::size_t count = 0;
  for (const yaml::Entry& entry : patch.entries()) count += weight(entry.value);
  return patch.is_map() && patch.size() > 0 ? count : leaves(patch);
}

bool same(const Node& wanted, const Node& made) {
  if (wanted.is_string() && made.is_string()) return same_text(wanted, made);
  return yaml::equal(wanted, made);
}

// Walks both trees and calls `differ(path, wanted, made)`.
class DifferenceWalk {
 public:
  explicit DifferenceWalk(std::vector<Difference>& out) : out_(out) {}

  void compare(const Node& wanted, const Node& made, const std::string& path) {
    if (wanted.is_map() && made.is_map()) {
      maps(wanted, made, path);
    } else if (wanted.is_list() && made.is_list() && wanted.size() == made.size()) {
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        compare(wanted.items()[i], made.items()[i], path + "[" + std::to_string(i) + "]");
      }
    } else if (!same(wanted, made)) {
      out_.push_back({path, wanted, made});
    }
  }

 private:
  void maps(const Node& wanted, const Node& made, const std::string& path) {
    for (const yaml::Entry& entry : wanted.entries()) {
      const std::string_view key = entry.key.as_string();
      compare(entry.value, made.get(key), step_below(path, key));
    }
    if (path == "metadata.annotations") return;
    for (const yaml::Entry& entry : made.entries()) {
      const std::string_view key = entry.key.as_string();
      if (wanted.find(key) != nullptr || entry.value.is_null()) continue;
      if (path == "metadata" && key == "annotations") continue;
      out_.push_back({step_below(path, key), Node(), entry.value});
    }
  }

  std::vector<Difference>& out_;
};

std::optional<Node> patch_at(const Node& wanted, const Node& made, const std::string& path,
                             yaml::Arena& arena);

// Of texts that both hold mappings: the patch of what they hold, where it says less than the text.
std::optional<Node> patch_within(const Node& wanted, const Node& made, yaml::Arena& arena) {
  if (!wanted.is_string() || !made.is_string()) return std::nullopt;
  const std::optional<Node> left = yaml::held_tree(wanted, arena);
  const std::optional<Node> right = left ? yaml::held_tree(made, arena) : std::nullopt;
  if (!right || !left->is_map() || !right->is_map()) return std::nullopt;
  const std::optional<Node> patch = patch_at(*left, *right, {}, arena);
  return patch && weight(*patch) < leaves(*left) ? patch : std::nullopt;
}

// Nothing when nothing differs.
std::optional<Node> patch_at(const Node& wanted, const Node& made, const std::string& path,
                             yaml::Arena& arena) {
  if (!wanted.is_map() || !made.is_map()) {
    if (const std::optional<Node> within = patch_within(wanted, made, arena)) return within;
    std::vector<Difference> found;
    DifferenceWalk(found).compare(wanted, made, path);
    return found.empty() ? std::nullopt : std::optional(wanted);
  }
  yaml::MapBuilder out;
  for (const yaml::Entry& entry : wanted.entries()) {
    const std::string_view key = entry.key.as_string();
    const auto below = patch_at(entry.value, made.get(key), step_below(path, key), arena);
    if (below) out.set(arena, key, *below);
  }
  for (const yaml::Entry& entry : made.entries()) {
    const std::string_view key = entry.key.as_string();
    const bool tools_add_it =
        path == "metadata.annotations" || (path == "metadata" && key == "annotations");
    if (wanted.find(key) == nullptr && !tools_add_it && !entry.value.is_null()) {
      out.set(arena, key, Node());
    }
  }
  return out.empty() ? std::nullopt : std::optional(out.build(arena));
}

}  // namespace

std::string step_below(const std::string& path, std::string_view key) {
  std::string next = yaml::key_step(key);
  if (path.empty() && next.starts_with('.')) next.erase(0, 1);
  return path + next;
}

std::vector<Difference> differences(const Node& wanted, const Node& made) {
  std::vector<Difference> out;
  DifferenceWalk(out).compare(wanted, made, {});
  return out;
}

std::size_t leaves(const Node& tree) {
  std::size_t count = 0;
  for (const yaml::Entry& entry : tree.entries()) count += leaves(entry.value);
  for (const Node& item : tree.items()) count += leaves(item);
  return count == 0 ? 1 : count;
}

Node patch_between(const Node& wanted, const Node& made, yaml::Arena& arena) {
  return patch_at(wanted, made, {}, arena).value_or(Node());
}

}  // namespace gpuctl::imports
