#include "cli/day.hpp"

#include <cstdlib>

#include "base/date.hpp"

namespace gpuctl::cli {

std::optional<std::chrono::sys_days> named_day(const std::string& given) {
  if (const std::optional<std::chrono::sys_days> day = base::parse_day(given)) return *day;
  const char* variable = std::getenv("GPUCTL_DATE");
  return variable == nullptr ? std::nullopt : base::parse_day(variable);
}

std::chrono::sys_days chosen_day(const std::string& given) {
  if (const std::optional<std::chrono::sys_days> day = named_day(given)) return *day;
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

std::int64_t now() {
  const std::optional<std::chrono::sys_days> day = named_day("");
  const auto time =
      day ? std::chrono::sys_seconds(*day + std::chrono::days(1))
          : std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return time.time_since_epoch().count();
}

void add_date_option(Options& command, std::string& date) {
  command.add_option("--date", date, "Judge ends of support as of this day (default: today)")
      .type_name("YYYY-MM-DD")
      .check([](const std::string& text) {
        return base::parse_day(text) ? std::string()
                                     : "`" + text + "` is no date such as 2026-12-31";
      });
}

}  // namespace gpuctl::cli
