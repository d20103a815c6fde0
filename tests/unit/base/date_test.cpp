#include "base/date.hpp"

#include <gtest/gtest.h>

namespace gpuctl::base {
namespace {

int days(std::string_view text) {
  const auto day = parse_date(text);
  return day ? static_cast<int>(day->time_since_epoch().count()) : -1;
}

TEST(Date, IsADayOfTheCalendar) {
  EXPECT_EQ(days("1970-01-01"), 0);
  EXPECT_EQ(days("2024-02-29"), 19782);
  for (const char* none : {"", "2026", "2026-2-01", "2026-02-29", "2026-13-01", "2026-00-10",
                           "2026-01-00", "2026/01/01", "2026-01-01 ", "+026-01-01", "2026-01-0a"}) {
    EXPECT_FALSE(parse_date(none)) << none;
  }
}

TEST(Date, AMonthEndsWithItsLastDay) {
  EXPECT_EQ(parse_day("2026-08"), parse_date("2026-08-31"));
  EXPECT_EQ(parse_day("2028-02"), parse_date("2028-02-29"));
  for (const char* none : {"", "2026-13", "2026-8", "2026-02-30"}) {
    EXPECT_FALSE(parse_day(none)) << none;
  }
  EXPECT_EQ(parse_day("2026-08-30"), parse_date("2026-08-30"));
}

TEST(Date, IsWrittenAsItIsRead) {
  for (const char* day : {"0001-01-01", "1970-01-01", "2024-02-29", "9999-12-31"}) {
    EXPECT_EQ(day_text(*parse_date(day)), day);
  }
}

}  // namespace
}  // namespace gpuctl::base
