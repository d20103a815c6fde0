// Equality for round trips, stricter than yaml::equal().
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "yaml/node.hpp"

namespace gpuctl::yaml::test {

/// The same tree in the same order: 1 and 1.0 differ, and so do 0.0 and -0.0; NaN is itself.
inline bool same(const Node& a, const Node& b) {
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  if (a.is_real()) {
    if (std::isnan(a.as_real())) return std::isnan(b.as_real());
    return std::bit_cast<std::uint64_t>(a.as_real()) == std::bit_cast<std::uint64_t>(b.as_real());
  }
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    if (!same(a.items()[i], b.items()[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries().size(); ++i) {
    if (!same(a.entries()[i].key, b.entries()[i].key)) return false;
    if (!same(a.entries()[i].value, b.entries()[i].value)) return false;
  }
  return !a.is_scalar() || equal(a, b);
}

}  // namespace gpuctl::yaml::test
