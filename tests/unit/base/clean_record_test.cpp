#include "base/clean_record.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpuctl::base {
namespace {

TEST(CleanRecord, KnowsWhatWasAddedAndItsCost) {
  CleanRecord record;
  EXPECT_FALSE(record.cost_of(sha256("a")).has_value());
  record.add(sha256("a"), 7);
  EXPECT_EQ(record.cost_of(sha256("a")), 7U);
  EXPECT_FALSE(record.cost_of(sha256("b")).has_value());
}

TEST(CleanRecord, StartsAnewWhenItIsFull) {
  CleanRecord record;
  for (std::size_t i = 0; i < CleanRecord::kMostDigests; ++i) record.add(sha256(std::to_string(i)));
  EXPECT_TRUE(record.cost_of(sha256("0")).has_value());
  record.add(sha256("one more"));
  EXPECT_FALSE(record.cost_of(sha256("0")).has_value());
  EXPECT_TRUE(record.cost_of(sha256("one more")).has_value());
}

}  // namespace
}  // namespace gpuctl::base
