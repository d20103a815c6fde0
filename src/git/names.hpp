// How git names branches and objects.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpuctl::git {

/// What the name of a branch begins with, in full.
inline constexpr std::string_view kBranches = "refs/heads/";

/// True when `text` has nothing but lower-case hexadecimal digits.
inline bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// True for the name of an object by SHA-1: 40 lower-case hexadecimal digits.
inline bool is_id(std::string_view text) {
  constexpr std::size_t kDigits = 40;
  return text.size() == kDigits && is_hex(text);
}

}  // namespace gpuctl::git
