#include "base/date.hpp"

#include <array>
#include <cstdio>

namespace gpuctl::base {

std::optional<std::chrono::sys_days> parse_date(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != '-') return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (const char c : text.substr(at, digits)) value = value * 10 + (c - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

std::optional<std::chrono::sys_days> parse_day(std::string_view text) {
  if (const auto day = parse_date(text)) return day;
  const auto first = parse_date(std::string(text) + "-01");
  if (!first) return std::nullopt;
  const std::chrono::year_month_day date(*first);
  return std::chrono::sys_days(date.year() / date.month() / std::chrono::last);
}

std::string day_text(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text.data();
}

}  // namespace gpuctl::base
