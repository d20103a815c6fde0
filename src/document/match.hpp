// Which kind a document is of.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <vector>

#include "catalog/platform.hpp"

namespace gpuctl::document {

/// How well a document fits a kind; the greater, the better.
struct Fit {
  std::size_t depth = 0;      // of the kind: special cases win
  std::size_t certainty = 0;  // of the alternative that fitted
  friend auto operator<=>(const Fit&, const Fit&) = default;
};

/// The best kind for a document, and how well it fits.
struct Match {
  std::size_t kind = 0;
  Fit fit;
};

/// The kind among `kinds` that fits best; nothing when none does. A special case fits only what the
/// kind that it extends fits.
std::optional<Match> match(const std::vector<catalog::DocumentKind>& kinds,
                           const yaml::Node& document);

}  // namespace gpuctl::document
