#include "effects/difference.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "yaml/held.hpp"
#include "yaml/item_names.hpp"
#include "yaml/path.hpp"

namespace gpuctl::effects {

namespace {

using yaml::Node;
bool all_maps(const Node& list) {
  const auto items = list.items();
  return std::all_of(items.begin(), items.end(), [](const Node& item) { return item.is_map(); });
}

class Walk {
 public:
  Walk(yaml::Arena& arena, std::vector<Field>& out) : arena_(arena), out_(out) {}

  void compare(const Node& from, const Node& to) {
    if (from.is_null() && to.is_null()) return;
    if ((from.is_map() || from.is_null()) && (to.is_map() || to.is_null())) return maps(from, to);
    if ((from.is_list() || from.is_null()) && (to.is_list() || to.is_null())) {
      if (lists(from, to)) return;
    } else if (from.is_string() && to.is_string()) {
      if (from.as_string() == to.as_string() || texts(from, to)) return;
    }
    if (!yaml::equal(from, to)) found(from, to);
  }

 private:
  void found(const Node& from, const Node& to) {
    out_.push_back({steps_, from, to, whole_.value_or(steps_.size())});
  }

  // Compares what is one step below.
  void below(Step step, const Node& from, const Node& to) {
    steps_.push_back(std::move(step));
    const bool comes_or_goes = !whole_ && from.is_null() != to.is_null();
    if (comes_or_goes) whole_ = steps_.size();
    compare(from, to);
    if (comes_or_goes) whole_.reset();
    steps_.pop_back();
  }

  void maps(const Node& from, const Node& to) {
    if (from.size() + to.size() == 0 && from.kind() != to.kind()) return found(from, to);
    for (const yaml::Entry& entry : from.entries()) {
      const std::string_view key = entry.key.as_string();
      below({std::string(key)}, entry.value, to.get(key));
    }
    for (const yaml::Entry& entry : to.entries()) {
      const std::string_view key = entry.key.as_string();
      if (from.find(key) == nullptr) below({std::string(key)}, Node(), entry.value);
    }
  }

  // False for lists that are one value.
  bool lists(const Node& from, const Node& to) {
    if (from.size() + to.size() == 0 || !all_maps(from) || !all_maps(to)) return false;
    if (const auto names = yaml::item_names(from, to)) {
      named(from, names->first, to, names->second);
      return true;
    }
    if (from.size() != to.size()) return false;
    for (std::size_t i = 0; i < from.size(); ++i) {
      below({std::to_string(i), true}, from.items()[i], to.items()[i]);
    }
    return true;
  }

  void named(const Node& from, std::span<const std::string> before, const Node& to,
             std::span<const std::string> after) {
    std::map<std::string_view, Node> there;
    for (std::size_t i = 0; i < after.size(); ++i) there[after[i]] = to.items()[i];
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto same = there.find(before[i]);
      below({before[i], true}, from.items()[i], same == there.end() ? Node() : same->second);
      if (same != there.end()) there.erase(same);
    }
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (there.contains(after[i])) below({after[i], true}, Node(), to.items()[i]);
    }
  }

  // True when both hold YAML that differs: then that was compared.
  bool texts(const Node& from, const Node& to) {
    const std::optional<Node> before = yaml::held_tree(from, arena_);
    const std::optional<Node> after = before ? yaml::held_tree(to, arena_) : std::nullopt;
    if (!after || before->kind() != after->kind()) return false;
    const std::size_t known = out_.size();
    compare(*before, *after);
    return out_.size() != known;
  }

  yaml::Arena& arena_;
  std::vector<Field>& out_;
  std::vector<Step> steps_;
  std::optional<std::size_t> whole_;  // steps of the part around that came or went as a whole
};

}  // namespace

std::string written(const std::vector<Step>& steps) {
  std::string out;
  for (const Step& step : steps) {
    out += step.item ? "[" + step.text + "]" : yaml::key_step(step.text);
  }
  return out.starts_with('.') ? out.substr(1) : out;
}

std::vector<Field> differences(const yaml::Node& from, const yaml::Node& to, yaml::Arena& arena) {
  std::vector<Field> out;
  Walk(arena, out).compare(from, to);
  return out;
}

}  // namespace gpuctl::effects
