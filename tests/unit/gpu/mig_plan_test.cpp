#include "gpu/mig_plan.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "classes.hpp"

namespace gpuctl::gpu {
namespace {

// What one GPU can hold, tried unit by unit without any of the solver's code.
void fillings(const MigClass& gpu, int unit, int slices, const std::map<std::string, int>& media,
              MigLayout layout, std::set<MigLayout>& out) {
  out.insert(layout);
  if (unit >= gpu.units) return;
  fillings(gpu, unit + 1, slices, media, layout, out);
  for (const MigProfile& profile : gpu.profiles) {
    bool starts = false;
    for (const int start : profile.starts) starts = starts || start == unit;
    if (!starts || profile.slices > slices || layout[profile.name] >= profile.most) continue;
    std::map<std::string, int> left = media;
    bool engines = true;
    for (const auto& [engine, count] : profile.media) {
      const auto found = left.find(engine);
      if (found != left.end() && (found->second -= count) < 0) engines = false;
    }
    if (!engines) continue;
    MigLayout more = layout;
    ++more[profile.name];
    fillings(gpu, unit + profile.units, slices - profile.slices, left, more, out);
  }
}

std::set<MigLayout> all_fillings(const MigClass& gpu) {
  std::set<MigLayout> found;
  fillings(gpu, 0, gpu.slices, gpu.media, {}, found);
  std::set<MigLayout> out;
  for (MigLayout layout : found) {
    std::erase_if(layout, [](const auto& entry) { return entry.second == 0; });
    out.insert(layout);
  }
  return out;
}

// The fewest GPUs, by trying one more GPU at a time on all that is still wanted.
std::int64_t brute_force(const std::set<MigLayout>& fillings, const MigDemand& demand) {
  std::set<MigDemand> open = {demand};
  for (std::int64_t gpus = 0;; ++gpus) {
    std::set<MigDemand> next;
    for (const MigDemand& wanted : open) {
      bool done = true;
      for (const auto& [name, count] : wanted) done = done && count <= 0;
      if (done) return gpus;
      for (const MigLayout& layout : fillings) {
        MigDemand rest = wanted;
        bool helps = false;
        for (const auto& [name, count] : layout) {
          const auto found = rest.find(name);
          if (found == rest.end() || found->second <= 0) continue;
          found->second = std::max<std::int64_t>(0, found->second - count);
          helps = true;
        }
        if (helps) next.insert(std::move(rest));
      }
    }
    open = std::move(next);
  }
}

// The shares are placeable, and together they are just the demand.
void expect_sound(const MigClass& gpu, const MigDemand& demand, const MigPlan& made) {
  ASSERT_TRUE(made.ok) << made.reason;
  MigDemand got;
  std::int64_t gpus = 0;
  std::int64_t lost = 0;
  for (const MigShare& share : made.shares) {
    const MigPlacement placed = place(gpu, share.layout);
    EXPECT_TRUE(placed.ok) << placed.reason;
    lost += share.gpus * placed.lost_compute;
    gpus += share.gpus;
    for (const auto& [name, count] : share.layout) got[name] += share.gpus * count;
  }
  MigDemand wanted = demand;
  std::erase_if(wanted, [](const auto& entry) { return entry.second == 0; });
  EXPECT_EQ(got, wanted);
  EXPECT_EQ(gpus, made.gpus);
  EXPECT_EQ(lost, made.lost_compute);
  EXPECT_LE(made.at_least, made.gpus);
}

TEST(MigPlan, EqualsBruteForceOnSmallDemands) {
  std::mt19937 random(20261121);
  const MigClass classes[] = {class_7_8(), class_4_4(), class_12_4()};
  std::vector<std::set<MigLayout>> fillings;
  for (const MigClass& gpu : classes) fillings.push_back(all_fillings(gpu));
  for (int round = 0; round < 1000; ++round) {
    const std::size_t which = random() % std::size(classes);
    const MigClass& gpu = classes[which];
    MigDemand demand;
    for (std::size_t i = 0; i < 1 + random() % 3; ++i) {
      demand[gpu.profiles[random() % gpu.profiles.size()].name] =
          static_cast<std::int64_t>(random() % 6);
    }
    const MigPlan made = plan(gpu, demand);
    expect_sound(gpu, demand, made);
    EXPECT_EQ(made.gpus, brute_force(fillings[which], demand)) << round;
    EXPECT_TRUE(made.optimal());
  }
}

TEST(MigPlan, LosesLeastOfTheFewest) {
  // Two 3g on one GPU burn a slice; two 4g+3g and friends do not.
  const MigPlan made = plan(class_7_8(), {{"3g.40gb", 2}, {"2g.20gb", 3}, {"1g.10gb", 2}});
  EXPECT_EQ(made.gpus, 2);
  EXPECT_TRUE(made.least_lost);
  EXPECT_EQ(made.lost_compute, 0);
}

TEST(MigPlan, BoundsLargeDemands) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    const MigClass gpu = round % 2 == 0 ? class_7_8() : class_12_4();
    MigDemand demand;
    for (const MigProfile& profile : gpu.profiles) {
      if (random() % 2 == 0) demand[profile.name] = static_cast<std::int64_t>(random() % 900);
    }
    const MigPlan made = plan(gpu, demand);
    expect_sound(gpu, demand, made);
    EXPECT_LE(made.gpus, made.at_least + 3) << round;
  }
}

TEST(MigPlan, KnowsTheSimpleBounds) {
  EXPECT_EQ(plan(class_7_8(), {{"7g.80gb", 1000}}).gpus, 1000);
  EXPECT_EQ(plan(class_7_8(), {{"1g.10gb", 7000}}).gpus, 1000);
  EXPECT_EQ(plan(class_7_8(), {{"1g.10gb", 7001}}).gpus, 1001);
  EXPECT_TRUE(plan(class_7_8(), {{"1g.10gb", 7001}}).optimal());
  EXPECT_EQ(plan(class_7_8(), {{"1g.10gb+me", 3}, {"1g.10gb", 18}}).gpus, 3);
  EXPECT_EQ(plan(class_7_8(), {}).gpus, 0);
}

TEST(MigPlan, FindsTheSmallestProfile) {
  const MigClass gpu = class_7_8();
  EXPECT_EQ(profile_for(gpu, "1g.10gb+me"), "1g.10gb+me");
  EXPECT_EQ(profile_for(gpu, "8gb"), "1g.10gb");
  EXPECT_EQ(profile_for(gpu, "11gb"), "1g.20gb");
  EXPECT_EQ(profile_for(gpu, "2g"), "2g.20gb");
  EXPECT_EQ(profile_for(gpu, "2g.10gb"), "2g.20gb");
  EXPECT_EQ(profile_for(gpu, "5g"), "7g.80gb");
  EXPECT_EQ(profile_for(gpu, "81gb"), "");
  EXPECT_EQ(profile_for(gpu, "gb"), "");
  EXPECT_EQ(profile_for(gpu, "1g.1g"), "");
  EXPECT_EQ(profile_for(gpu, "99999999gb"), "");
}

TEST(MigPlan, RefusesWhatIsNoDemand) {
  EXPECT_EQ(plan(class_7_8(), {{"2g.10gb", 1}}).reason,
            "has no profile `2g.10gb`, did you mean `1g.10gb`?");
  EXPECT_FALSE(plan(class_7_8(), {{"7g.80gb", -1}}).ok);
  EXPECT_FALSE(plan(class_7_8(), {{"7g.80gb", kMostDemand + 1}}).ok);
  EXPECT_FALSE(plan(class_7_8(), {{"7g.80gb", std::numeric_limits<std::int64_t>::max()}}).ok);
}

}  // namespace
}  // namespace gpuctl::gpu
