// Calendar dates as people and tables write them.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace gpuctl::base {

/// A date such as "2031-12-31"; nothing when it is none.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

/// The last day of a month such as "2031-12"; nothing when it is none.
std::optional<std::chrono::sys_days> parse_month(std::string_view text);

}  // namespace gpuctl::base
