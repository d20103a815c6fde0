#include "yaml/merge_patch.hpp"

#include <string>
#include <vector>

#include "yaml/emit.hpp"
#include "yaml/held.hpp"

namespace gpuctl::yaml {

namespace {

// The text with its tree patched; nothing when it holds no mapping.
std::optional<Node> patch_text(const Node& text, const Node& patch, Arena& arena,
                               PatchBudget* budget) {
  Arena own;
  const std::optional<Node> tree = held_tree(text, own);
  if (!tree || !tree->is_map()) return std::nullopt;
  const Node patched = merge_patch(*tree, patch, own, budget);
  const bool json = text.as_string().starts_with('{');
  return arena.string(json ? emit_json(patched) : emit(patched), text.origin());
}

}  // namespace

Node merge_patch(const Node& target, const Node& patch, Arena& arena, PatchBudget* budget) {
  if (!patch.is_map()) return patch;
  if (target.is_string()) {
    if (const std::optional<Node> text = patch_text(target, patch, arena, budget)) return *text;
  }
  const std::size_t before = target.is_map() ? target.size() : 0;
  if (budget != nullptr && !budget->spend(1 + before + patch.size())) return target;
  std::vector<Entry> merged;
  merged.reserve(before + patch.size());
  for (const Entry& entry : target.entries()) {
    const Node* change = patch.find(entry.key.as_string());
    if (change == nullptr) {
      merged.push_back(entry);
    } else if (!change->is_null()) {
      merged.push_back({entry.key, merge_patch(entry.value, *change, arena, budget)});
    }
  }
  for (const Entry& entry : patch.entries()) {
    if (entry.value.is_null() || target.find(entry.key.as_string()) != nullptr) continue;
    merged.push_back({entry.key, merge_patch(Node(), entry.value, arena, budget)});
  }
  return arena.map(merged, target.is_map() ? target.origin() : patch.origin());
}

}  // namespace gpuctl::yaml
