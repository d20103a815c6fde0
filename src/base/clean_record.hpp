// What a run has found clean, so that the same is not judged again for the next cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/digest.hpp"

namespace gpuctl::base {

/// Remembers digests of what was judged clean. Whoever adds one puts everything into it that the
/// verdict depends on, the kind of judgement included. Thread-safe, and bounded: when it is full it
/// starts anew, and what clusters share comes back with the next one.
class CleanRecord {
 public:
  static constexpr std::size_t kMostDigests = 8192;

  /// What judging cost, as add() was told; nothing when it is not known to be clean.
  std::optional<std::uint64_t> cost_of(const Sha256& digest) const;

  /// `cost`: of a budget, to be charged to whoever is spared the work.
  void add(const Sha256& digest, std::uint64_t cost = 0);

 private:
  struct Hash {
    std::size_t operator()(const Sha256& digest) const;
  };
  mutable std::mutex one_at_a_time_;
  std::unordered_map<Sha256, std::uint64_t, Hash> costs_;
};

}  // namespace gpuctl::base
