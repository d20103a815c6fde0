// Finds a scalar again in the raw text. yaml-cpp reports only where a scalar starts and its value;
// where it ends, and which byte of the value stands where, follows from walking both together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuctl::yaml {

enum class Match : std::uint8_t {
  yes,
  no,            // the text at that place is not this value
  unterminated,  // a quote is opened and the text ends before it is closed
};

enum class Style : std::uint8_t { plain, single_quoted, double_quoted, literal, folded };

/// The bytes [begin, end) of a scalar, with its quotes or block header, without properties.
struct ScalarPlace {
  Match match = Match::no;
  Style style = Style::plain;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Skips anchors and tags at `at`, and blanks, comments and line breaks behind them.
std::size_t skip_properties(std::string_view text, std::size_t at);

/// Skips blanks, line breaks and comments.
std::size_t skip_separation(std::string_view text, std::size_t at);

/// Finds the scalar of this `value` that starts at `at` (behind its properties). When `offsets` is
/// given it receives the offset in `text` of every byte of the value, and of the value's end.
ScalarPlace locate_scalar(std::string_view text, std::size_t at, std::string_view value,
                          std::vector<std::uint32_t>* offsets = nullptr);

}  // namespace gpuctl::yaml
