#include "net/clock.hpp"

#include <gtest/gtest.h>

#include "net/load.hpp"
#include "net/time.hpp"

namespace gpuctl::net {
namespace {

TEST(Clock, DatesOfHeaders) {
  ASSERT_EQ(load_libraries(), std::nullopt);
  EXPECT_TRUE(compare_date("Tue, 15 Nov 1994 08:12:31 GMT").told);
  EXPECT_LT(compare_date("Tue, 15 Nov 1994 08:12:31 GMT").seconds, -1e8);
  EXPECT_GT(compare_date("Tue, 15 Nov 2095 08:12:31 GMT").seconds, 1e9);
  const ClockAnswer none = compare_date("yesterday or so");
  EXPECT_FALSE(none.told);
  EXPECT_FALSE(none.why.empty());
}

TEST(Time, WhatIsLeftNeverGoesBelowNothing) {
  EXPECT_EQ(left_until(Clock::now() - std::chrono::hours(1)).count(), 0);
  EXPECT_EQ(left_until(Deadline::max()), std::chrono::hours(1));
}

}  // namespace
}  // namespace gpuctl::net
