#include "gpu/mig.hpp"

#include <gtest/gtest.h>

#include <set>

#include "classes.hpp"

namespace gpuctl::gpu {
namespace {

const MigProfile& profile(const MigClass& gpu, const std::string& name) {
  for (const MigProfile& each : gpu.profiles) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << name;
  return gpu.profiles.front();
}

std::string text(const MigLayout& layout) {
  std::string all;
  for (const auto& [name, count] : layout) all += std::to_string(count) + "x" + name + " ";
  return all;
}

/// Whether instances can be placed, by trying every start for one after the other: an oracle that
/// shares nothing with the code under test.
bool oracle(const MigClass& gpu, std::vector<const MigProfile*> instances,
            const std::set<int>& taken) {
  if (instances.empty()) return true;
  const MigProfile* next = instances.back();
  instances.pop_back();
  for (const int start : next->starts) {
    std::set<int> now = taken;
    bool free = true;
    for (int unit = start; unit < start + next->units; ++unit)
      free = now.insert(unit).second && free;
    if (free && oracle(gpu, instances, now)) return true;
  }
  return false;
}

bool oracle(const MigClass& gpu, const MigLayout& layout) {
  std::vector<const MigProfile*> instances;
  int slices = 0;
  std::map<std::string, int> media;
  for (const auto& [name, count] : layout) {
    const MigProfile& each = profile(gpu, name);
    if (count > each.most) return false;
    for (int i = 0; i < count; ++i) {
      instances.push_back(&each);
      slices += each.slices;
      for (const auto& [engine, used] : each.media) media[engine] += used;
    }
  }
  for (const auto& [engine, used] : media) {
    if (used > gpu.media.at(engine)) return false;
  }
  return slices <= gpu.slices && oracle(gpu, instances, {});
}

/// Every combination of counts up to `most + 1` a profile and `instances` together.
std::vector<MigLayout> all_counts(const MigClass& gpu, int instances) {
  std::vector<MigLayout> layouts = {{}};
  for (const MigProfile& each : gpu.profiles) {
    std::vector<MigLayout> longer;
    for (const MigLayout& layout : layouts) {
      int used = 0;
      for (const auto& [name, count] : layout) used += count;
      for (int count = 0; count <= std::min(each.most + 1, instances - used); ++count) {
        MigLayout next = layout;
        if (count != 0) next[each.name] = count;
        longer.push_back(next);
      }
    }
    layouts = longer;
  }
  return layouts;
}

void expect_valid(const MigClass& gpu, const MigLayout& layout, const MigPlacement& placement) {
  MigLayout placed;
  std::set<int> taken;
  int slices = 0;
  for (const MigInstance& instance : placement.placements) {
    const MigProfile& each = profile(gpu, instance.profile);
    ++placed[instance.profile];
    slices += each.slices;
    EXPECT_EQ(instance.size, each.units);
    EXPECT_EQ(std::count(each.starts.begin(), each.starts.end(), instance.start), 1);
    for (int unit = instance.start; unit < instance.start + instance.size; ++unit) {
      EXPECT_TRUE(taken.insert(unit).second) << text(layout);
    }
  }
  EXPECT_EQ(placed, layout);
  EXPECT_EQ(slices + placement.lost_compute + placement.free_compute, gpu.slices);
  EXPECT_EQ(static_cast<int>(taken.size()) + placement.lost_memory + placement.free_memory,
            gpu.units);
}

void compare_with_oracle(const MigClass& gpu, int instances) {
  int placeable = 0;
  for (const MigLayout& layout : all_counts(gpu, instances)) {
    const MigPlacement placement = place(gpu, layout);
    ASSERT_EQ(placement.ok, oracle(gpu, layout)) << text(layout) << placement.reason;
    ASSERT_EQ(placement.ok, placement.reason.empty());
    if (placement.ok) {
      expect_valid(gpu, layout, placement);
      if (!layout.empty()) ++placeable;
      bool maximal = true;
      for (const MigProfile& each : gpu.profiles) {
        MigLayout more = layout;
        ++more[each.name];
        maximal = maximal && !oracle(gpu, more);
      }
      EXPECT_EQ(placement.maximal, maximal) << text(layout);
    }
  }
  const std::vector<MigOption> options = enumerate(gpu);
  EXPECT_EQ(options.size(), static_cast<std::size_t>(placeable));
  // What a layout loses is what the best layout that contains it leaves unused.
  for (const MigOption& option : options) {
    std::pair best{gpu.slices, gpu.units};
    for (const MigOption& larger : options) {
      std::pair unused{gpu.slices, gpu.units};
      for (const auto& [name, count] : larger.layout) {
        unused.first -= count * profile(gpu, name).slices;
        unused.second -= count * profile(gpu, name).units;
      }
      bool contains = true;
      for (const auto& [name, count] : option.layout) {
        const auto found = larger.layout.find(name);
        contains = contains && found != larger.layout.end() && found->second >= count;
      }
      if (contains) best = std::min(best, unused);
    }
    const MigPlacement placement = place(gpu, option.layout);
    EXPECT_EQ(std::pair(placement.lost_compute, placement.lost_memory), best)
        << text(option.layout);
    EXPECT_EQ(placement.maximal, option.maximal);
  }
}

TEST(Mig, AgreesWithBruteForce) {
  compare_with_oracle(class_7_8(), 8);
  compare_with_oracle(class_4_4(), 5);
  compare_with_oracle(class_12_4(), 4);
}

TEST(Mig, Class78HasTheKnownLayouts) {
  const MigClass gpu = class_7_8(false);
  const std::vector<MigOption> options = enumerate(gpu);
  EXPECT_EQ(options.size(), 77U);
  struct Known {
    MigLayout layout;
    int compute;
    int memory;
  };
  const std::string g1 = "1g.10gb", d1 = "1g.20gb", g2 = "2g.20gb", g3 = "3g.40gb", g4 = "4g.40gb",
                    g7 = "7g.80gb";
  const std::vector<Known> known = {{{{g7, 1}}, 0, 0},
                                    {{{g4, 1}, {g3, 1}}, 0, 0},
                                    {{{g4, 1}, {g2, 1}, {d1, 1}}, 0, 0},
                                    {{{g4, 1}, {d1, 1}, {g1, 2}}, 0, 0},
                                    {{{g3, 1}, {g2, 2}}, 0, 0},
                                    {{{g3, 1}, {g2, 1}, {g1, 2}}, 0, 0},
                                    {{{g3, 1}, {g1, 4}}, 0, 0},
                                    {{{g2, 3}, {d1, 1}}, 0, 0},
                                    {{{g2, 2}, {d1, 1}, {g1, 2}}, 0, 0},
                                    {{{g2, 1}, {d1, 1}, {g1, 4}}, 0, 0},
                                    {{{d1, 1}, {g1, 6}}, 0, 0},
                                    {{{g4, 1}, {g2, 1}, {g1, 1}}, 0, 1},
                                    {{{g4, 1}, {g1, 3}}, 0, 1},
                                    {{{g2, 3}, {g1, 1}}, 0, 1},
                                    {{{g2, 2}, {g1, 3}}, 0, 1},
                                    {{{g2, 1}, {g1, 5}}, 0, 1},
                                    {{{g1, 7}}, 0, 1},
                                    {{{g3, 2}}, 1, 0},
                                    {{{g3, 1}, {g2, 1}, {d1, 1}}, 1, 0},
                                    {{{g3, 1}, {d1, 1}, {g1, 2}}, 1, 0},
                                    {{{g4, 1}, {d1, 2}}, 1, 0},
                                    {{{g2, 2}, {d1, 2}}, 1, 0},
                                    {{{g2, 1}, {d1, 2}, {g1, 2}}, 1, 0},
                                    {{{d1, 2}, {g1, 4}}, 1, 0},
                                    {{{g3, 1}, {d1, 2}}, 2, 0},
                                    {{{g2, 1}, {d1, 3}}, 2, 0},
                                    {{{d1, 3}, {g1, 2}}, 2, 0},
                                    {{{d1, 4}}, 3, 0}};
  ASSERT_EQ(known.size(), 28U);
  std::set<MigLayout> expected;
  for (const Known& each : known) {
    expected.insert(each.layout);
    const MigPlacement placement = place(gpu, each.layout);
    EXPECT_TRUE(placement.ok) << text(each.layout);
    EXPECT_TRUE(placement.maximal) << text(each.layout);
    EXPECT_EQ(placement.lost_compute, each.compute) << text(each.layout);
    EXPECT_EQ(placement.lost_memory, each.memory) << text(each.layout);
  }
  std::set<MigLayout> maximal;
  for (const MigOption& option : options) {
    if (option.maximal) maximal.insert(option.layout);
  }
  EXPECT_EQ(maximal, expected);
}

TEST(Mig, ReportsWhatIsFreeAndWhatIsLost) {
  const MigClass gpu = class_7_8();
  const MigPlacement three = place(gpu, {{"2g.20gb", 3}});
  EXPECT_EQ(three.free_compute, 1);
  EXPECT_EQ(three.free_memory, 2);
  EXPECT_EQ(three.lost_compute, 0);
  EXPECT_FALSE(three.maximal);
  const MigPlacement balanced = place(gpu, {{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}});
  EXPECT_TRUE(balanced.maximal);
  EXPECT_EQ(balanced.lost_compute, 0);
  EXPECT_EQ(balanced.lost_memory, 0);
  const MigPlacement nothing = place(gpu, {});
  EXPECT_TRUE(nothing.ok);
  EXPECT_EQ(nothing.free_compute, 7);
  EXPECT_EQ(nothing.free_memory, 8);
}

TEST(Mig, ChoosesPlacesThatKeepMostOpen) {
  const MigClass gpu = class_7_8();
  // A 3g at 0 would burn compute slice 3 and shut out the 4g.
  EXPECT_EQ(place(gpu, {{"3g.40gb", 1}}).placements, (std::vector<MigInstance>{{"3g.40gb", 4, 4}}));
  EXPECT_EQ(place(gpu, {{"1g.20gb", 1}}).placements, (std::vector<MigInstance>{{"1g.20gb", 6, 2}}));
  EXPECT_EQ(place(gpu, {{"4g.40gb", 1}, {"3g.40gb", 1}}).placements,
            (std::vector<MigInstance>{{"4g.40gb", 0, 4}, {"3g.40gb", 4, 4}}));
  EXPECT_EQ(place(gpu, {{"1g.10gb", 7}}).placements.back(), (MigInstance{"1g.10gb", 6, 1}));
  // Three 1g at 0, 2 and 4 would prevent every 2g. Next to a 3g at 4 nothing is lost.
  EXPECT_EQ(place(gpu, {{"1g.10gb", 3}}).placements,
            (std::vector<MigInstance>{{"1g.10gb", 0, 1}, {"1g.10gb", 1, 1}, {"1g.10gb", 2, 1}}));
}

TEST(Mig, SaysWhyNotAndWhatIsNear) {
  const MigClass gpu = class_7_8();
  const MigPlacement compute = place(gpu, {{"4g.40gb", 1}, {"3g.40gb", 1}, {"1g.10gb", 1}});
  EXPECT_EQ(compute.reason, "needs 8 of 7 compute slices");
  EXPECT_EQ(compute.nearest, (std::vector<MigLayout>{{{"3g.40gb", 1}, {"4g.40gb", 1}},
                                                     {{"1g.10gb", 1}, {"4g.40gb", 1}},
                                                     {{"1g.10gb", 1}, {"3g.40gb", 1}}}));
  const MigPlacement memory = place(gpu, {{"3g.40gb", 2}, {"1g.10gb", 1}});
  EXPECT_EQ(memory.reason, "needs 9 of 8 memory slices");
  EXPECT_EQ(memory.nearest.front(), (MigLayout{{"3g.40gb", 2}}));
  const MigPlacement most = place(gpu, {{"1g.10gb+me", 2}});
  EXPECT_EQ(most.reason, "`1g.10gb+me` fits at most 1 time, not 2");
  EXPECT_EQ(most.nearest, (std::vector<MigLayout>{{{"1g.10gb+me", 1}}}));
  const MigPlacement fourth = place(gpu, {{"2g.20gb", 4}});
  EXPECT_EQ(fourth.nearest, (std::vector<MigLayout>{{{"2g.20gb", 3}}}));
  EXPECT_FALSE(place(gpu, {{"1g.10gb", 2'000'000'000}}).ok);
  const MigPlacement unknown = place(gpu, {{"2g.10gb", 1}});
  EXPECT_FALSE(unknown.ok);
  EXPECT_NE(unknown.reason.find("did you mean `1g.10gb`"), std::string::npos) << unknown.reason;
  EXPECT_TRUE(unknown.nearest.empty());
  EXPECT_NE(place(gpu, {{"1g.10gb", -1}}).reason, "");
}

TEST(Mig, PositionsAloneCanForbidALayout) {
  // Compute 7, memory 8, yet two units at an odd place stay: both 3g need a half, the 1g2 too.
  MigClass gpu = class_7_8();
  profile(gpu, "2g.20gb");
  gpu.profiles[3].starts = {2};
  const MigPlacement placement = place(gpu, {{"3g.40gb", 1}, {"4g.40gb", 1}});
  EXPECT_EQ(placement.reason, "no arrangement fits the places where profiles may start");
  EXPECT_EQ(placement.nearest.size(), 2U);
}

TEST(Mig, MediaEnginesAreABudget) {
  const MigPlacement a30 = place(class_4_4(), {{"1g.6gb+me", 1}, {"2g.12gb+me", 1}});
  EXPECT_EQ(a30.reason, "needs 2 of 1 `ofa` engines");
  const MigClass pro = class_12_4();
  EXPECT_FALSE(place(pro, {{"1g.24gb+me.all", 1}, {"1g.24gb", 1}}).ok);
  const MigPlacement all = place(pro, {{"1g.24gb+me.all", 1}, {"1g.24gb-me", 3}});
  EXPECT_TRUE(all.ok) << all.reason;
  EXPECT_TRUE(all.maximal);
  EXPECT_EQ(place(pro, {{"2g.48gb", 1}, {"1g.24gb", 2}}).lost_memory, 0);
}

TEST(Mig, OrderOfProfilesDoesNotMatter) {
  MigClass gpu = class_7_8();
  const MigLayout layout = {{"1g.10gb", 1}, {"1g.20gb", 1}, {"2g.20gb", 1}, {"3g.40gb", 1}};
  const MigPlacement before = place(gpu, layout);
  std::reverse(gpu.profiles.begin(), gpu.profiles.end());
  const MigPlacement after = place(gpu, layout);
  EXPECT_EQ(before.ok, after.ok);
  EXPECT_EQ(before.lost_compute, after.lost_compute);
  EXPECT_EQ(before.lost_memory, after.lost_memory);
}

TEST(Mig, ListsSmallestFirst) {
  EXPECT_EQ(list(class_7_8()),
            (std::vector<std::string>{"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb",
                                      "4g.40gb", "7g.80gb"}));
}

TEST(Mig, FindsFaultsOfAClass) {
  EXPECT_EQ(fault_of(class_7_8()), "");
  EXPECT_EQ(fault_of(class_4_4()), "");
  EXPECT_EQ(fault_of(class_12_4()), "");
  const auto broken = [](auto change) {
    MigClass gpu = class_7_8();
    change(gpu);
    return fault_of(gpu);
  };
  EXPECT_NE(broken([](MigClass& gpu) { gpu.units = 65; }), "");
  EXPECT_NE(broken([](MigClass& gpu) { gpu.slices = 0; }), "");
  EXPECT_NE(broken([](MigClass& gpu) { gpu.profiles.clear(); }), "");
  EXPECT_EQ(broken([](MigClass& gpu) { gpu.profiles[0].starts = {8}; }),
            "profile `1g.10gb`: start 8 is outside");
  EXPECT_NE(broken([](MigClass& gpu) { gpu.profiles[0].starts = {1, 1}; }), "");
  EXPECT_NE(broken([](MigClass& gpu) { gpu.profiles[0].most = 0; }), "");
  EXPECT_NE(broken([](MigClass& gpu) { gpu.profiles[1].name = "1g.10gb"; }), "");
  EXPECT_NE(broken([](MigClass& gpu) { gpu.profiles[1].units = -1; }), "");
}

TEST(Mig, AHostileClassEndsInTime) {
  MigClass gpu{"big", 64, 64, {}, {}};
  for (int i = 0; i < 20; ++i) {
    MigProfile each{"p" + std::to_string(i), 1, 1, {}, 64, {}};
    for (int start = 0; start < 64; ++start) each.starts.push_back(start);
    gpu.profiles.push_back(each);
  }
  ASSERT_EQ(fault_of(gpu), "");
  MigLayout layout;
  for (int i = 0; i < 20; ++i) layout["p" + std::to_string(i)] = 2;
  EXPECT_TRUE(place(gpu, layout).ok);  // not the best one, but one
}

}  // namespace
}  // namespace gpuctl::gpu
