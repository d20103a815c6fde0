#include "yaml/scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fixture.hpp"

namespace gpuctl::yaml {
namespace {

using test::Text;

void expect(Plain kind, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    EXPECT_EQ(static_cast<int>(classify_plain(text)), static_cast<int>(kind)) << text;
  }
}

TEST(ClassifyPlain, CoreSchema) {
  expect(Plain::null, {"", "~", "null", "Null", "NULL"});
  expect(Plain::boolean_true, {"true", "True", "TRUE"});
  expect(Plain::boolean_false, {"false", "False", "FALSE"});
  expect(Plain::integer,
         {"0", "5", "-5", "-0", "123", "9223372036854775807", "-9223372036854775808"});
  expect(Plain::too_large,
         {"9223372036854775808", "-9223372036854775809", "123456789012345678901234567890"});
  expect(Plain::real, {"1.5", "-1.5", "1.", ".5", "-.5", "1.5e+3", "1.5E-3", "1.10", "00.5", ".inf",
                       "-.inf", "+.inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"});
}

TEST(ClassifyPlain, WhatReadersDisagreeOn) {
  expect(Plain::other_truth, {"y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On",
                              "ON", "off", "Off", "OFF"});
  expect(Plain::other_number, {"010",       "00",
                               "-010",      "08",
                               "+5",        "+0",
                               "0x1F",      "0X1f",
                               "-0x1F",     "0o17",
                               "0O17",      "0b101",
                               "1_000",     "1_",
                               "-1_000",    "0x1_0",
                               "1_0.5",     "1:30",
                               "190:20:30", "0:30",
                               "1:30.5",    "00:11:22:33:44:55",
                               "-1:30",     "+99999999999999999999",
                               "-_1",       "+_1",
                               "1e0_1",     "0x1p-2",
                               "0x.8",      "0B1_0",
                               "0b-1",      "0o+7"});
  expect(Plain::other_real, {"1e3", "1E3", "12e5", "1.5e3", "-1e3", "+1.5", "1e+3", "+.5"});
  expect(Plain::other_date, {"2001-01-01", "2001-1-1", "2001-12-14T21:59:43.10-05:00",
                             "2001-12-14 21:59:43.10 -5", "2001-12-14t21:59:43Z"});
  expect(Plain::other_word, {"=", "<<"});
}

TEST(ClassifyPlain, TextStaysText) {
  expect(Plain::string,
         {"a",      "nul",      "nulls", "tRUE",    "truee",       "yEs",         "yess",
          "oN",     "offf",     "-",     "+",       ".",           "..",          "1.2.3",
          "4.20.1", "1a",       "0x",    "0xg1",    "1-2",         "10.0.0.0/16", "10.0.0.1",
          "100Gi",  "1:60:99a", "1:75",  "2001-01", "2001-01-01a", "20010-01-01", "1e",
          "e3",     ".e3",      ".inf1", "+.nan",   "-.nan",       "inf",         "nan",
          "NaN",    "==",       "<",     "~a",      "fe80::1",     "aa:bb:cc",    "v1",
          "1 2",    "1,5"});
}

// Digits of another base behind the prefix make no number: hashes and UUIDs start so, too.
TEST(ClassifyPlain, HashesAreText) {
  expect(Plain::string, {"0b2f98d9-4a6e-4f1b-9a57-3c1d5e8f7a20",
                         "0b2f98d9",
                         "0b9",
                         "0B9",
                         "0b2_0",
                         "0b1f",
                         "0b10-11",
                         "0b",
                         "0b+",
                         "0o8",
                         "0o1a",
                         "0oabc",
                         "0x-1",
                         "0xp1",
                         "0x1p",
                         "0x1.2.3",
                         "0x1-2",
                         "0b1e5-77",
                         "-0b2f",
                         "0b.1"});
}

TEST(ParseReal, Values) {
  EXPECT_EQ(parse_real("1.5"), 1.5);
  EXPECT_EQ(parse_real("-.5"), -0.5);
  EXPECT_EQ(parse_real("+1.5"), 1.5);
  EXPECT_EQ(parse_real("1."), 1.0);
  EXPECT_EQ(parse_real("1.5e+3"), 1500.0);
  EXPECT_EQ(parse_real("1.0e+999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_real("1.0e-999"), 0.0);
  EXPECT_EQ(parse_real("-.inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parse_real(".nan")));
  EXPECT_TRUE(std::signbit(parse_real("-0.0")));
}

TEST(PlainScalars, HaveTheirKinds) {
  const Text text("[5, 5.0, true, ~, '5', abc, -0.0, 1.10]\n");
  ASSERT_TRUE(text.root);
  const auto items = text.root->items();
  EXPECT_EQ(items[0].kind(), Kind::integer);
  EXPECT_EQ(items[1].kind(), Kind::real);
  EXPECT_EQ(items[2].kind(), Kind::boolean);
  EXPECT_EQ(items[3].kind(), Kind::null);
  EXPECT_EQ(items[4].kind(), Kind::string);
  EXPECT_EQ(items[5].kind(), Kind::string);
  EXPECT_EQ(items[6].kind(), Kind::real);
  EXPECT_EQ(items[7].as_real(), 1.1);
}

}  // namespace
}  // namespace gpuctl::yaml
