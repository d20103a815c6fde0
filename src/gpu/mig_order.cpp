#include "gpu/mig_order.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

namespace gpuctl::gpu {
namespace {

class Creation {
 public:
  Creation(const MigClass& gpu, const std::vector<std::string>& order)
      : gpu_(gpu), slices_(gpu.slices), media_(gpu.media), used_(gpu.profiles.size(), 0) {
    for (const std::string& name : order) {
      for (std::size_t i = 0; i < gpu.profiles.size(); ++i) {
        if (gpu.profiles[i].name == name) order_.push_back(i);
      }
    }
  }

  MigOrder run() {
    result_.always = true;
    result_.possible = false;
    next(0);
    return result_;
  }

 private:
  bool fits(std::size_t index, int start) const {
    const MigProfile& profile = gpu_.profiles[index];
    if (used_[index] >= profile.most || profile.slices > slices_) return false;
    if ((occupied_ & mask(start, profile.units)) != 0) return false;
    return std::all_of(profile.media.begin(), profile.media.end(), [&](const auto& engine) {
      const auto left = media_.find(engine.first);
      return left == media_.end() || left->second >= engine.second;
    });
  }

  static std::uint64_t mask(int start, int size) {
    const std::uint64_t ones =
        size >= kMostUnits ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    return ones << start;
  }

  void take(std::size_t index, int start, int sign) {
    const MigProfile& profile = gpu_.profiles[index];
    used_[index] += sign;
    slices_ -= sign * profile.slices;
    occupied_ ^= mask(start, profile.units);
    for (const auto& [engine, count] : profile.media) {
      const auto left = media_.find(engine);
      if (left != media_.end()) left->second -= sign * count;
    }
  }

  // What comes after the same instances on the same units is the same, wherever each of them is.
  void next(std::size_t at) {
    if (at == order_.size()) {
      if (!result_.possible) {
        for (const MigInstance& instance : placed_) result_.starts.push_back(instance.start);
      }
      result_.possible = true;
      return;
    }
    if (!seen_.insert({at, occupied_}).second) return;
    const std::size_t index = order_[at];
    const MigProfile& profile = gpu_.profiles[index];
    bool any = false;
    for (const int start : profile.starts) {
      if (!fits(index, start)) continue;
      any = true;
      take(index, start, 1);
      placed_.push_back({profile.name, start, profile.units});
      next(at + 1);
      placed_.pop_back();
      take(index, start, -1);
    }
    if (any || !result_.always) return;
    result_.always = false;
    result_.before = placed_;
    result_.stuck = profile.name;
  }

  const MigClass& gpu_;
  std::vector<std::size_t> order_;
  int slices_;
  std::map<std::string, int> media_;
  std::vector<int> used_;
  std::uint64_t occupied_ = 0;
  std::vector<MigInstance> placed_;
  std::set<std::pair<std::size_t, std::uint64_t>> seen_;
  MigOrder result_;
};

}  // namespace

MigOrder in_order(const MigClass& gpu, const std::vector<std::string>& order) {
  return Creation(gpu, order).run();
}

std::vector<std::string> safe_order(const MigClass& gpu, const MigLayout& layout) {
  // Positions of profiles, largest first; their permutations come in that order.
  std::vector<const MigProfile*> profiles;
  for (const MigProfile& profile : gpu.profiles) profiles.push_back(&profile);
  std::stable_sort(profiles.begin(), profiles.end(), [](const auto* a, const auto* b) {
    return a->units != b->units ? a->units > b->units : a->slices > b->slices;
  });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const auto found = layout.find(profiles[i]->name);
    const int count = found == layout.end() ? 0 : std::min(found->second, profiles[i]->most);
    order.insert(order.end(), static_cast<std::size_t>(std::max(0, count)), i);
  }
  constexpr int kMostOrders = 5'000;
  for (int i = 0; i < kMostOrders; ++i) {
    std::vector<std::string> names;
    for (const std::size_t index : order) names.push_back(profiles[index]->name);
    if (in_order(gpu, names).always) return names;
    if (!std::next_permutation(order.begin(), order.end())) break;
  }
  return {};
}

}  // namespace gpuctl::gpu
