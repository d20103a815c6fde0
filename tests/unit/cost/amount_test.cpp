#include "cost/amount.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gpuctl::cost {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Amount, ReadsNumbersToTheMillionth) {
  EXPECT_EQ(Amount::of(yaml::Node::real(0.526)).micros(), 526'000);
  EXPECT_EQ(Amount::of(yaml::Node::real(0.0000004)).micros(), 0);
  EXPECT_EQ(Amount::of(yaml::Node::real(0.0000006)).micros(), 1);
  EXPECT_EQ(Amount::of(yaml::Node::integer(42'000)).micros(), 42'000'000'000);
  EXPECT_EQ(Amount::of(yaml::Node()).micros(), 0);
}

TEST(Amount, PrintsHundredths) {
  EXPECT_EQ(Amount::of_micros(734'380'000).text(), "734.38");
  EXPECT_EQ(Amount::of_micros(5'000).text(), "0.01");
  EXPECT_EQ(Amount::of_micros(4'999).text(), "0.00");
  EXPECT_EQ(Amount::of_micros(-20'725'000).text(), "-20.73");
  EXPECT_EQ(Amount::of_micros(-4'999).text(), "0.00");
  EXPECT_EQ(Amount::of_micros(1'999'999).text(), "2.00");
}

TEST(Amount, PrintsPricesAsTheyAre) {
  EXPECT_EQ(Amount::of_micros(526'000).exact(), "0.526");
  EXPECT_EQ(Amount::of_micros(1'000'000).exact(), "1.00");
  EXPECT_EQ(Amount::of_micros(134'020).exact(), "0.13402");
  EXPECT_EQ(Amount::of_micros(1).exact(), "0.000001");
}

TEST(Amount, AddsAndSharesWithoutLosingMillionths) {
  const Amount third = Amount::of_micros(1'000'000).share(1, 3);
  EXPECT_EQ(third.micros(), 333'333);
  EXPECT_EQ(Amount::of_micros(2'000'000).share(1, 3).micros(), 666'667);
  EXPECT_EQ(Amount::of_micros(-1'000'000).share(1, 2).micros(), -500'000);
  EXPECT_EQ(Amount::of_micros(1).share(1, 2).micros(), 1);
  EXPECT_EQ((third + third).times(3).micros(), 1'999'998);
  EXPECT_EQ((third - third).micros(), 0);
}

// What is too large stays large: it does not wrap around.
TEST(Amount, StaysAtTheLargestThereIs) {
  const Amount most = Amount::of_micros(kMost);
  EXPECT_EQ((most + most).micros(), kMost);
  EXPECT_EQ(most.times(1000).micros(), kMost);
  EXPECT_EQ(most.times(-1000).micros(), -kMost);
  EXPECT_EQ(most.share(1000, 1000).micros(), kMost);
}

}  // namespace
}  // namespace gpuctl::cost
