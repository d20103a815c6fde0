#include "imports/absent.hpp"

#include <optional>
#include <set>

#include "imports/difference.hpp"
#include "yaml/held.hpp"

namespace gpuctl::imports {

namespace {

using yaml::Node;

class Walk {
 public:
  Walk(yaml::Arena& arena, std::vector<std::string>* restated)
      : arena_(arena), restated_(restated) {}

  Node map(const Node& absent, const Node& wanted, const Node& made, const std::string& path) {
    yaml::MapBuilder out(wanted);
    if (const Node* of_all = absent.find("*")) {
      for (const std::string& key : keys(wanted, made))
        field(key, *of_all, wanted, made, path, out);
      return out.build(arena_, wanted.origin());
    }
    for (const yaml::Entry& one : absent.entries()) {
      field(one.key.as_string(), one.value, wanted, made, path, out);
    }
    return out.build(arena_, wanted.origin());
  }

 private:
  static std::set<std::string> keys(const Node& wanted, const Node& made) {
    std::set<std::string> out;
    for (const yaml::Entry& entry : wanted.entries()) out.emplace(entry.key.as_string());
    for (const yaml::Entry& entry : made.entries()) out.emplace(entry.key.as_string());
    return out;
  }

  void field(std::string_view key, const Node& absent, const Node& wanted, const Node& made,
             const std::string& path, yaml::MapBuilder& out) {
    const Node* had = wanted.find(key);
    const Node* has = made.find(key);
    if (had == nullptr && has == nullptr) return;
    const std::string below = step_below(path, key);
    if (absent.is_map() && absent.size() != 0) {
      if (had != nullptr && has != nullptr && had->is_string() && has->is_string()) {
        if (same_meaning(absent, *had, *has, below)) out.set(arena_, key, *has);
        return;
      }
      if ((had != nullptr && !had->is_map()) || (has != nullptr && !has->is_map())) return;
      const Node empty = arena_.map(std::span<const yaml::Entry>());
      const Node value =
          map(absent, had == nullptr ? empty : *had, has == nullptr ? empty : *has, below);
      if (value.size() == 0 && has == nullptr) {
        out.remove(key);
      } else if (had != nullptr || value.size() != 0) {
        out.set(arena_, key, value);
      }
    } else if (had != nullptr && has == nullptr && yaml::equal(*had, absent)) {
      out.remove(key);
      differ(below);
    } else if (had == nullptr && has != nullptr && yaml::equal(*has, absent)) {
      out.set(arena_, key, *has);
      differ(below);
    }
  }

  // Of texts that hold trees: whether they differ at most by what one of them restates.
  bool same_meaning(const Node& absent, const Node& wanted, const Node& made,
                    const std::string& path) {
    const std::optional<Node> left = yaml::held_tree(wanted, arena_);
    const std::optional<Node> right = left ? yaml::held_tree(made, arena_) : std::nullopt;
    if (!right || !left->is_map() || !right->is_map()) return false;
    std::vector<std::string> restated;
    const Node nearer = Walk(arena_, &restated).map(absent, *left, *right, path);
    if (!yaml::equal(nearer, *right)) return false;
    for (const std::string& one : restated) differ(one);
    return true;
  }

  void differ(const std::string& path) {
    if (restated_ != nullptr) restated_->push_back(path);
  }

  yaml::Arena& arena_;
  std::vector<std::string>* restated_;
};

}  // namespace

Node without_restated(const Node& absent, const Node& wanted, const Node& made, yaml::Arena& arena,
                      std::vector<std::string>* restated) {
  if (!absent.is_map() || !wanted.is_map() || !made.is_map()) return wanted;
  return Walk(arena, restated).map(absent, wanted, made, {});
}

}  // namespace gpuctl::imports
