#include "cost/words.hpp"

#include <gtest/gtest.h>

namespace gpuctl::cost {
namespace {

TEST(Words, OfFigures) {
  EXPECT_EQ(text_of({Amount::of_micros(1'234'565'000), true}), "1234.57");
  EXPECT_EQ(text_of({Amount::of_micros(1'000'000), false}), "at least 1.00");
  EXPECT_EQ(text_of({Amount(), false}), "unknown");
  EXPECT_EQ(text_of({Amount(), true}), "0.00");
}

TEST(Words, OfDifferences) {
  const Figure cheap{Amount::of_micros(5'000'000), true};
  const Figure dear{Amount::of_micros(17'000'000), true};
  EXPECT_EQ(difference_of(cheap, dear), "+12.00");
  EXPECT_EQ(difference_of(dear, cheap), "-12.00");
  EXPECT_EQ(difference_of(cheap, cheap), "0.00");
  EXPECT_EQ(difference_of(cheap, {dear.known, false}), "unknown");
}

TEST(Words, OfRangesAndPower) {
  EXPECT_EQ(range_of(2, 2), "2");
  EXPECT_EQ(range_of(0, 6), "0-6");
  EXPECT_EQ(range_of(0, std::nullopt), "unknown");
  EXPECT_EQ(kilowatts(3'450), "3.5");
  EXPECT_EQ(kilowatts(0), "0.0");
  Part part;
  part.max = 2;
  part.gpus = 8;
  part.gpu_watts = 5'600;
  EXPECT_EQ(watts_text(part), "700 W a GPU");
  EXPECT_EQ(most_kilowatts(part), "11.2");
  part.watts = 900;
  EXPECT_EQ(watts_text(part), "700 W a GPU, 900 W the rest of a machine");
  EXPECT_EQ(most_kilowatts(part), "13.0");
  Part unknown;
  unknown.gpus = 1;
  Estimate all;
  all.parts = {part, unknown};
  EXPECT_EQ(most_kilowatts(all), "at least 13.0");
  all.parts = {unknown};
  EXPECT_EQ(most_kilowatts(all), std::nullopt);
}

TEST(Words, OfWhatIsNotKnown) {
  Line line;
  line.unknown = "what a machine costs";
  Part part;
  part.name = "gpu";
  part.lines = {line, line, {}};
  Estimate estimate;
  estimate.parts = {part, part};
  EXPECT_EQ(unknown_of(estimate), std::vector<std::string>{"gpu: what a machine costs"});
}

}  // namespace
}  // namespace gpuctl::cost
