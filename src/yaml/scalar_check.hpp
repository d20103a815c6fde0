// How a scalar is written. yaml-cpp takes spellings that YAML rules out, or that other readers
// understand differently.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "yaml/fault.hpp"
#include "yaml/scan.hpp"

namespace gpuctl::yaml {

/// What surrounds a scalar.
struct Surroundings {
  std::ptrdiff_t column = -1;  // of the innermost block collection; -1 at the top
  bool flow = false;           // inside brackets
};

/// The first fault in the spelling of the scalar at `place`: an escape that YAML does not have, a
/// later line that is not indented, a block text whose lines are counted in different ways.
std::optional<Fault> check_scalar(std::string_view text, const ScalarPlace& place,
                                  const Surroundings& around);

/// A fault when a text ends in a line of blanks without a line break that would belong to the block
/// text at `place` for some readers and to nothing for others. `column` as in Surroundings.
std::optional<Fault> check_last_line(std::string_view text, const ScalarPlace& place,
                                     std::ptrdiff_t column);

/// A fault when the line that starts at `line` has too few blanks for a value inside a block
/// collection in `column`. Only spaces count.
std::optional<Fault> check_line(std::string_view text, std::size_t line, std::ptrdiff_t column);

}  // namespace gpuctl::yaml
