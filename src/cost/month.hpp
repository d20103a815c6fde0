// A month: what of it is known at each scale of a cluster, and how many machines run how long.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/amount.hpp"

namespace gpuctl::cost {

/// How much of a cluster there is: all pools at their minimum for the whole month, scaled ones at
/// their maximum for some hours of it, all at their maximum.
enum Scale : std::size_t { kMin, kTypical, kMax, kScales };

/// A sum of which parts may be missing.
struct Figure {
  Amount known;
  bool complete = true;  // false: it is more, nobody knows how much

  bool is_unknown() const { return !complete && known == Amount(); }
  Figure operator+(const Figure& other) const {
    return {known + other.known, complete && other.complete};
  }
};
inline constexpr std::array<std::string_view, kScales> kScaleNames = {"min", "typical", "max"};
using Figures = std::array<Figure, kScales>;
Figures operator+(const Figures& one, const Figures& other);

/// What something costs a month, and what it would cost instead.
struct Change {
  Figures before;
  Figures after;
};

/// Hours of a month.
struct Hours {
  std::int64_t month = 730;                         // of 8,760 in a year
  std::optional<std::int64_t> at_max;               // of scaled pools
  std::map<std::string, std::int64_t> pool_at_max;  // of single ones, by name

  /// True when somebody said how a month typically goes.
  bool has_typical() const { return at_max || !pool_at_max.empty(); }
  /// The scales that are to be shown.
  std::vector<Scale> scales() const;
  /// Of a pool that nobody spoke of: none.
  std::int64_t of(const std::string& pool) const;
};

/// How many of something run: what is paid by the hour, and what is paid by the piece.
struct Running {
  std::array<std::int64_t, kScales> hours{};   // machine-hours of a month
  std::array<std::int64_t, kScales> pieces{};  // most at a time
};

/// Of the machines of a pool; of counts that are not known, the least that there may be.
Running running(const std::string& pool, std::optional<std::int64_t> min,
                std::optional<std::int64_t> max, const Hours& hours);

/// Nothing is known, but that nothing costs nothing.
Figures unknown_where_there_are(const Running& running);
/// So much an hour for `factor` of something in each of the machines.
Figures by_hour(Amount rate, const Running& running, std::int64_t factor);
/// The same at each scale.
Figures fixed(Amount month);

}  // namespace gpuctl::cost
