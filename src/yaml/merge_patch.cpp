#include "yaml/merge_patch.hpp"

#include <vector>

namespace gpuctl::yaml {

Node merge_patch(const Node& target, const Node& patch, Arena& arena, PatchBudget* budget) {
  if (!patch.is_map()) return patch;
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
