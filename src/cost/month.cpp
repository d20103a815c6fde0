#include "cost/month.hpp"

#include <algorithm>

namespace gpuctl::cost {

Figures operator+(const Figures& one, const Figures& other) {
  Figures out;
  for (std::size_t i = 0; i < kScales; ++i) out[i] = one[i] + other[i];
  return out;
}

std::int64_t Hours::of(const std::string& pool) const {
  const auto found = pool_at_max.find(pool);
  return found == pool_at_max.end() ? at_max.value_or(0) : found->second;
}

std::vector<Scale> Hours::scales() const {
  if (has_typical()) return {kMin, kTypical, kMax};
  return {kMin, kMax};
}

Running running(const std::string& pool, std::optional<std::int64_t> min,
                std::optional<std::int64_t> max, const Hours& hours) {
  const std::int64_t least = min.value_or(0);
  const std::int64_t most = std::max(max.value_or(least), least);
  const std::int64_t at_max = std::clamp<std::int64_t>(hours.of(pool), 0, hours.month);
  Running out;
  out.hours = {least * hours.month, least * (hours.month - at_max) + most * at_max,
               most * hours.month};
  out.pieces = {least, at_max == 0 ? least : most, most};
  return out;
}

Figures unknown_where_there_are(const Running& running) {
  Figures out;
  for (std::size_t i = 0; i < kScales; ++i) out[i].complete = running.pieces[i] == 0;
  return out;
}

Figures by_hour(Amount rate, const Running& running, std::int64_t factor) {
  Figures out;
  for (std::size_t i = 0; i < kScales; ++i)
    out[i].known = rate.times(running.hours[i]).times(factor);
  return out;
}

Figures fixed(Amount month) {
  Figures out;
  for (Figure& figure : out) figure.known = month;
  return out;
}

}  // namespace gpuctl::cost
