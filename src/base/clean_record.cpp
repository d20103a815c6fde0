#include "base/clean_record.hpp"

#include <cstring>

namespace gpuctl::base {

// The bytes of a digest are as good as random.
std::size_t CleanRecord::Hash::operator()(const Sha256& digest) const {
  std::size_t out = 0;
  std::memcpy(&out, digest.data(), sizeof out);
  return out;
}

std::optional<std::uint64_t> CleanRecord::cost_of(const Sha256& digest) const {
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  const auto found = costs_.find(digest);
  if (found == costs_.end()) return std::nullopt;
  return found->second;
}

void CleanRecord::add(const Sha256& digest, std::uint64_t cost) {
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  if (costs_.size() >= kMostDigests) costs_.clear();
  costs_.emplace(digest, cost);
}

}  // namespace gpuctl::base
