// Strings by code point. All text in CEL is valid UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuctl::cel {

/// Bytes of the code point that starts with `first`.
inline std::size_t utf8_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

/// Byte offset of code point `index`; text.size() when it is the end, npos when beyond.
inline std::size_t utf8_offset(std::string_view text, std::int64_t index) {
  if (index < 0) return std::string_view::npos;
  std::size_t at = 0;
  while (index > 0) {
    if (at >= text.size()) return std::string_view::npos;
    at += utf8_length(text[at]);
    --index;
  }
  return at > text.size() ? text.size() : at;
}

/// The code point at byte offset `at`.
inline std::uint32_t utf8_decode(std::string_view text, std::size_t at) {
  const std::size_t length = utf8_length(text[at]);
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  if (length == 1) return byte(0);
  std::uint32_t code = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte(i) & 0x3F);
  return code;
}

}  // namespace gpuctl::cel
