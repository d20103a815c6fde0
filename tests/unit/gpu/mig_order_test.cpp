#include "gpu/mig_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classes.hpp"

namespace gpuctl::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MigOrder, TellsWhatDependsOnThePlaces) {
  const MigClass gpu = class_7_8();
  const MigOrder good = in_order(gpu, {"4g.40gb", "2g.20gb", "1g.10gb"});
  EXPECT_TRUE(good.always);
  EXPECT_TRUE(good.possible);
  EXPECT_THAT(good.starts, ElementsAre(0, 4, 6));

  // One instance in the lower half, and the 4g has no place.
  const MigOrder luck = in_order(gpu, {"1g.10gb", "4g.40gb"});
  EXPECT_FALSE(luck.always);
  EXPECT_TRUE(luck.possible);
  EXPECT_EQ(luck.stuck, "4g.40gb");
  EXPECT_THAT(luck.before, ElementsAre(MigInstance{"1g.10gb", 0, 1}));
  EXPECT_THAT(luck.starts, ElementsAre(4, 0));

  const MigOrder never = in_order(gpu, {"4g.40gb", "4g.40gb"});
  EXPECT_FALSE(never.always);
  EXPECT_FALSE(never.possible);
  EXPECT_EQ(never.stuck, "4g.40gb");
}

TEST(MigOrder, CountsEnginesAndSlices) {
  const MigClass gpu = class_4_4();
  EXPECT_FALSE(in_order(gpu, {"1g.6gb+me", "2g.12gb+me"}).possible);
  EXPECT_TRUE(in_order(gpu, {"2g.12gb+me", "1g.6gb", "1g.6gb"}).always);
  EXPECT_FALSE(in_order(class_7_8(), {"3g.40gb", "3g.40gb", "1g.20gb"}).possible);
}

TEST(MigOrder, FindsASafeOrderForEveryLayout) {
  for (const MigClass& gpu : {class_7_8(false), class_4_4()}) {
    for (const MigOption& option : enumerate(gpu)) {
      const std::vector<std::string> order = safe_order(gpu, option.layout);
      std::string text;
      for (const auto& [name, count] : option.layout)
        text += name + ":" + std::to_string(count) + " ";
      std::size_t instances = 0;
      for (const auto& [name, count] : option.layout) instances += static_cast<std::size_t>(count);
      if (order.empty()) {
        // There may be none: then some order works at least with the right places.
        const MigPlacement placed = place(gpu, option.layout);
        std::vector<std::string> names;
        for (const MigInstance& instance : placed.placements) names.push_back(instance.profile);
        EXPECT_TRUE(in_order(gpu, names).possible) << text;
        continue;
      }
      EXPECT_EQ(order.size(), instances) << text;
      EXPECT_TRUE(in_order(gpu, order).always) << text;
    }
  }
}

TEST(MigOrder, HasNoSafeOrderForWhatDoesNotFit) {
  EXPECT_THAT(safe_order(class_7_8(), {{"4g.40gb", 1}, {"7g.80gb", 1}}), IsEmpty());
}

}  // namespace
}  // namespace gpuctl::gpu
