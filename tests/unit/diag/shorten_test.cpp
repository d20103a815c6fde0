#include "diag/shorten.hpp"

#include <gtest/gtest.h>

namespace gpuctl::diag {
namespace {

TEST(Shorten, CutsValuesAndLongTexts) {
  const std::string value(200'000, 'x');
  EXPECT_EQ(shorten("unknown platform `" + value + "` here"),
            "unknown platform `" + std::string(kMostQuotedBytes, 'x') + "... (200000 bytes)` here");
  EXPECT_EQ(shorten(value), std::string(kMostTextBytes, 'x') + "... (200000 bytes)");
  EXPECT_EQ(shorten(value, 10), "xxxxxxxxxx... (200000 bytes)");
}

TEST(Shorten, LeavesWhatPeopleRead) {
  const std::string list(3000, 'a');  // the names of a table
  EXPECT_EQ(shorten(list), list);
  const std::string command = "ask the cluster: `" + std::string(kMostQuotedBytes, 'c') + "`";
  EXPECT_EQ(shorten(command), command);
}

TEST(Shorten, CutsBetweenCharacters) {
  std::string text = "x";
  for (int i = 0; i < 10'000; ++i) text += "é";
  EXPECT_EQ(shorten(text, 100).substr(0, 99), text.substr(0, 99));
  EXPECT_EQ(shorten(text, 100).substr(99), "... (20001 bytes)");
}

TEST(Shorten, StaysBoundedWithManyTicks) {
  EXPECT_LT(shorten(std::string(200'000, '`')).size(), kMostTextBytes + 40);
}

}  // namespace
}  // namespace gpuctl::diag
