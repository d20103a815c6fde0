// JSON merge patches (RFC 7386) on trees.
#pragma once

#include <cstddef>

#include "yaml/node.hpp"

namespace gpuctl::yaml {

/// Entries and items that all patches of a cluster may copy.
inline constexpr std::size_t kMostPatchSteps = 1'000'000;

/// What the patches of one cluster may still do.
class PatchBudget {
 public:
  /// False once the steps are used up.
  bool spend(std::size_t steps) {
    left_ -= steps < left_ ? steps : left_;
    return left_ != 0;
  }
  bool exhausted() const { return left_ == 0; }

 private:
  std::size_t left_ = kMostPatchSteps;
};

/// RFC 7386: maps merge, null removes, everything else replaces. Beyond it, a map is merged into
/// what a text holds as held_tree() reads it, where that is a map; its comments go. Once a budget
/// is exhausted, the rest of the target stays as it is.
Node merge_patch(const Node& target, const Node& patch, Arena& arena,
                 PatchBudget* budget = nullptr);

}  // namespace gpuctl::yaml
