// Spans of time, as CRD rules compare them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cel/value.hpp"

namespace gpuctl::cel {

struct Duration final : Opaque {
  explicit Duration(std::int64_t value) : nanoseconds(value) {}
  std::string type_name() const override { return "duration"; }
  bool equals(const Opaque& other) const override {
    const auto* duration = dynamic_cast<const Duration*>(&other);
    return duration != nullptr && duration->nanoseconds == nanoseconds;
  }
  const std::int64_t nanoseconds;
};

/// Reads `1h30m`, `-2.5s`, `100ms` (units ns, us, ms, s, m, h); nothing when it is no duration or
/// does not fit 64 bits of nanoseconds.
std::optional<std::int64_t> parse_duration(std::string_view text);
/// Seconds as the shortest double: `90s`, `0.5s`.
std::string duration_text(std::int64_t nanoseconds);

}  // namespace gpuctl::cel
