// The day from which commands look at support that ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.hpp"

namespace gpuctl::cli {

/// What `--date` says; else the variable GPUCTL_DATE, with which tests hold the calendar still.
/// Nothing when neither names a day.
std::optional<std::chrono::sys_days> named_day(const std::string& given);

/// The named day; else today, in UTC. A text that is no date counts as none: the option refuses it.
std::chrono::sys_days chosen_day(const std::string& given);

/// Now, in seconds since 1970; the end of the day when GPUCTL_DATE names one.
std::int64_t now();

/// Adds `--date`; a text that is no date is a usage error.
void add_date_option(Options& command, std::string& date);

}  // namespace gpuctl::cli
