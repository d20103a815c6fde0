// The day from which commands look at support that ends.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/command.hpp"

namespace gpuctl::cli {

/// A date such as "2031-12-31", or a month: its last day. Nothing when it is neither.
std::optional<std::chrono::sys_days> parse_day(const std::string& text);

/// "2031-12-31".
std::string day_text(std::chrono::sys_days day);

/// What `--date` says; else the variable GPUCTL_DATE, with which tests hold the calendar still;
/// else today, in UTC. A text that is no date counts as none: the option refuses it.
std::chrono::sys_days chosen_day(const std::string& given);

/// Adds `--date`; a text that is no date is a usage error.
void add_date_option(CLI::App& command, std::string& date);

}  // namespace gpuctl::cli
