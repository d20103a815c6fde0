// Which fields a row is about.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/difference.hpp"

namespace gpuctl::effects {

/// A path such as `spec.taints[].key` or `metadata.labels["a.b/c"]`: `[]` is any item of a list,
/// `[name]` one of that name, `*` any key.
class Pattern {
 public:
  /// Nothing when the text is no path.
  static std::optional<Pattern> parse(std::string_view text);

  /// True for the field that the path leads to, and for all below it.
  bool covers(const std::vector<Step>& field) const;

 private:
  struct Part {
    Step step;
    bool any = false;
  };
  std::vector<Part> parts_;
};

}  // namespace gpuctl::effects
