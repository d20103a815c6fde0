#include "imports/absent.hpp"

#include <algorithm>
#include <optional>

#include "imports/difference.hpp"
#include "yaml/emit.hpp"
#include "yaml/held.hpp"

namespace gpuctl::imports {

namespace {

using yaml::Node;
using Nodes = std::vector<Node>;  // trees that speak of one place

class Walk {
 public:
  Walk(yaml::Arena& arena, std::vector<std::string>* restated)
      : arena_(arena), restated_(restated) {}

  Node map(const Nodes& absent, const Node& wanted, const Node& made, const std::string& path) {
    yaml::MapBuilder out(wanted);
    for (const std::string& key : keys(absent, wanted, made)) {
      field(key, at(absent, key), wanted, made, path, out);
    }
    return out.build(arena_, wanted.origin());
  }

 private:
  // The fields that a tree speaks of, in its order.
  static std::vector<std::string> keys(const Nodes& absent, const Node& wanted, const Node& made) {
    std::vector<std::string> out;
    const auto add = [&](const Node& tree) {
      for (const yaml::Entry& entry : tree.entries()) {
        std::string key(entry.key.as_string());
        if (std::find(out.begin(), out.end(), key) == out.end()) out.push_back(std::move(key));
      }
    };
    for (const Node& tree : absent) {
      if (tree.find("*") == nullptr) {
        add(tree);
      } else {
        add(wanted);
        add(made);
      }
    }
    return out;
  }

  static Nodes at(const Nodes& absent, const std::string& key) {
    Nodes out;
    for (const Node& tree : absent) {
      const Node* of_all = tree.find("*");
      const Node* below = of_all != nullptr ? of_all : tree.find(key);
      if (below != nullptr) out.push_back(*below);
    }
    return out;
  }

  void field(std::string_view key, const Nodes& absent, const Node& wanted, const Node& made,
             const std::string& path, yaml::MapBuilder& out) {
    const Node* had = wanted.find(key);
    const Node* has = made.find(key);
    if (had == nullptr && has == nullptr) return;
    const std::string below = step_below(path, key);
    Nodes maps = absent;
    std::erase_if(maps, [](const Node& tree) { return !tree.is_map() || tree.size() == 0; });
    if (!maps.empty()) {
      if (had != nullptr && has != nullptr && had->is_string() && has->is_string()) {
        if (const auto text = nearer_text(maps, *had, *has, below)) out.set(arena_, key, *text);
        return;
      }
      if ((had != nullptr && !had->is_map()) || (has != nullptr && !has->is_map())) return;
      const Node empty = arena_.map(std::span<const yaml::Entry>());
      const Node value =
          map(maps, had == nullptr ? empty : *had, has == nullptr ? empty : *has, below);
      if (value.size() == 0 && has == nullptr) {
        out.remove(key);
      } else if (had != nullptr || value.size() != 0) {
        out.set(arena_, key, value);
      }
      return;
    }
    const auto says_nothing = [&](const Node* value) {
      return value == nullptr || std::any_of(absent.begin(), absent.end(), [&](const Node& one) {
               return yaml::equal(*value, one);
             });
    };
    if (!says_nothing(had) || !says_nothing(has)) return;
    if (had != nullptr && has != nullptr && yaml::equal(*had, *has)) return;
    if (has == nullptr) {
      out.remove(key);
    } else {
      out.set(arena_, key, *has);
    }
    differ(below);
  }

  // Of texts that hold trees: the wanted one without what it restates, or the other where that is
  // all the difference. Nothing when they hold no trees, or neither restates anything.
  std::optional<Node> nearer_text(const Nodes& absent, const Node& wanted, const Node& made,
                                  const std::string& path) {
    const std::optional<Node> left = yaml::held_tree(wanted, arena_);
    const std::optional<Node> right = left ? yaml::held_tree(made, arena_) : std::nullopt;
    if (!right || !left->is_map() || !right->is_map()) return std::nullopt;
    std::vector<std::string> restated;
    const Node nearer = Walk(arena_, &restated).map(absent, *left, *right, path);
    for (const std::string& one : restated) differ(one);
    if (yaml::equal(nearer, *right)) return made;
    if (restated.empty()) return std::nullopt;
    return arena_.string(yaml::emit(nearer), wanted.origin());
  }

  void differ(const std::string& path) {
    if (restated_ != nullptr) restated_->push_back(path);
  }

  yaml::Arena& arena_;
  std::vector<std::string>* restated_;
};

}  // namespace

Node without_restated(std::span<const Node> absent, const Node& wanted, const Node& made,
                      yaml::Arena& arena, std::vector<std::string>* restated) {
  Nodes trees(absent.begin(), absent.end());
  std::erase_if(trees, [](const Node& tree) { return !tree.is_map(); });
  if (trees.empty() || !wanted.is_map() || !made.is_map()) return wanted;
  return Walk(arena, restated).map(trees, wanted, made, {});
}

}  // namespace gpuctl::imports
