// Calendar dates as people and tables write them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace gpuctl::base {

/// A date such as "2031-12-31"; nothing when it is none.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

/// A date such as "2031-12-31", or a month such as "2031-12": its last day. Nothing when it is
/// neither.
std::optional<std::chrono::sys_days> parse_day(std::string_view text);

/// "2031-12-31", for years 1 to 9999.
std::string day_text(std::chrono::sys_days day);

}  // namespace gpuctl::base
