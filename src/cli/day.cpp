#include "cli/day.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/date.hpp"

namespace gpuctl::cli {

std::optional<std::chrono::sys_days> parse_day(const std::string& text) {
  const std::optional<std::chrono::sys_days> day = base::parse_date(text);
  return day ? day : base::parse_month(text);
}

std::string day_text(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text.data();
}

std::chrono::sys_days chosen_day(const std::string& given) {
  if (const std::optional<std::chrono::sys_days> day = parse_day(given)) return *day;
  if (const char* variable = std::getenv("GPUCTL_DATE")) {
    if (const std::optional<std::chrono::sys_days> day = parse_day(variable)) return *day;
  }
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

void add_date_option(CLI::App& command, std::string& date) {
  command.add_option("--date", date, "Judge ends of support as of this day (default: today)")
      ->type_name("YYYY-MM-DD")
      ->check([](const std::string& text) {
        return parse_day(text) ? std::string() : "`" + text + "` is no date such as 2026-12-31";
      });
}

}  // namespace gpuctl::cli
