#include "diag/mask.hpp"

#include <algorithm>

namespace gpuctl::diag {

namespace {

// Shorter words of mixed case are names; random ones of this length are keys.
constexpr std::size_t kLeastTokenBytes = 20;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

// What base64, base64url and hexadecimal are made of.
bool in_token(char c) {
  return is_digit(c) || is_upper(c) || is_lower(c) || c == '+' || c == '/' || c == '=' ||
         c == '_' || c == '-';
}

bool looks_random(std::string_view word) {
  if (word.size() < kLeastTokenBytes) return false;
  const auto digits = std::count_if(word.begin(), word.end(), is_digit);
  const auto upper = std::count_if(word.begin(), word.end(), is_upper);
  const auto lower = std::count_if(word.begin(), word.end(), is_lower);
  // Identifiers of one case only are no secrets: digests, zone and key names.
  const bool mixed = digits >= 1 && upper >= 2 && lower >= 2;
  // A path or a hyphenated name is words; random text seldom has several separators.
  const auto separators = std::count_if(word.begin(), word.end(),
                                        [](char c) { return c == '/' || c == '-' || c == '_'; });
  return mixed && static_cast<std::size_t>(separators) * 10 < word.size();
}

void mask_url_passwords(std::string& line) {
  for (std::size_t at = line.find("//"); at != std::string::npos; at = line.find("//", at + 2)) {
    const std::size_t end = line.find_first_of(" \t\"'/?#", at + 2);
    const std::size_t stop = std::min(end, line.size());
    const std::size_t sign = line.rfind('@', stop);
    const std::size_t colon = line.find(':', at + 2);
    if (sign == std::string::npos || sign < at || colon == std::string::npos || colon > sign) {
      continue;
    }
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
              line.begin() + static_cast<std::ptrdiff_t>(sign), '*');
  }
}

}  // namespace

std::string mask_secrets(std::string_view line) {
  std::string out(line);
  mask_url_passwords(out);
  for (std::size_t begin = 0; begin < out.size();) {
    if (!in_token(out[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < out.size() && in_token(out[end])) ++end;
    if (looks_random(std::string_view(out).substr(begin, end - begin))) {
      std::fill(out.begin() + static_cast<std::ptrdiff_t>(begin),
                out.begin() + static_cast<std::ptrdiff_t>(end), '*');
    }
    begin = end;
  }
  return out;
}

}  // namespace gpuctl::diag
