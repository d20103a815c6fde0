// Dates of points in time, as tokens hold them.
#include <chrono>

#include "base/date.hpp"
#include "cel/functions.hpp"

namespace gpuctl::cel::lib {

namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;
// 0001-01-01 and 9999-12-31: others have no four digits for the year.
constexpr std::int64_t kFirstDay = -719'162;
constexpr std::int64_t kLastDay = 2'932'896;

Outcome date_of(Arguments args, CallContext& context) {
  const std::int64_t seconds = args[0].node().as_integer();
  const std::int64_t day =
      seconds / kSecondsPerDay - (seconds % kSecondsPerDay < 0 ? 1 : 0);  // rounded down
  if (day < kFirstDay || day > kLastDay) return fail("the year has no four digits");
  return give_text(context,
                   base::day_text(std::chrono::sys_days(std::chrono::days(static_cast<int>(day)))));
}

// Days since 1970-01-01, so that dates can be compared and counted from. Of a month, its last day.
Outcome day_of(Arguments args, CallContext&) {
  const std::string_view text = args[0].node().as_string();
  const std::optional<std::chrono::sys_days> day = base::parse_day(text);
  if (!day) return fail("`" + std::string(text) + "` is no date such as 2031-12-31");
  return give(yaml::Node::integer(day->time_since_epoch().count()));
}

}  // namespace

void add_dates(Functions& to) {
  function(to, "dates.ofSeconds", {integer()}, string(), date_of);
  function(to, "dates.day", {string()}, integer(), day_of);
}

}  // namespace gpuctl::cel::lib
