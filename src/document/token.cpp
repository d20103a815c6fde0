#include "document/token.hpp"

#include <algorithm>
#include <chrono>

namespace gpuctl::document {

yaml::Node token_document(std::string_view kind, std::string_view token, std::int64_t now,
                          yaml::Arena& arena) {
  yaml::MapBuilder out;
  out.set(arena, "apiVersion", arena.string("gpuctl.dev/v1alpha1"));
  out.set(arena, "kind", arena.string(kind));
  out.set(arena, "token", arena.string(token));
  out.set(arena, "now", yaml::Node::integer(now));
  return out.build(arena);
}

std::int64_t seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::optional<std::int64_t> seconds_of_date(std::string_view date) {
  constexpr std::string_view kForm = "0000-00-00";
  if (date.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < date.size(); ++i) {
    const bool digit = date[i] >= '0' && date[i] <= '9';
    if (kForm[i] == '0' ? !digit : date[i] != '-') return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (const char c : date.substr(at, digits)) value = value * 10 + (c - '0');
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!day.ok()) return std::nullopt;
  const std::chrono::sys_days days(day);
  return std::chrono::duration_cast<std::chrono::seconds>(days.time_since_epoch()).count();
}

}  // namespace gpuctl::document
