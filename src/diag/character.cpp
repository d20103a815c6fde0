#include "diag/character.hpp"

#include <algorithm>
#include <array>

namespace gpuctl::diag {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Range {
  char32_t first;
  char32_t last;
};

// The blocks that terminals show two columns wide (Unicode Standard Annex 11, by whole blocks).
constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},
    Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD},
};

constexpr std::array kCombining = {
    Range{0x0300, 0x036F}, Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},
    Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
};

constexpr bool in_one_of(char32_t c, const auto& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return c >= range.first && c <= range.last; });
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  std::size_t more = 0;
  char32_t least = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    more = 1;
    least = 0x80;
  } else if (first >= 0xE0 && first <= 0xEF) {
    more = 2;
    least = 0x800;
  } else if (first >= 0xF0 && first <= 0xF4) {
    more = 3;
    least = 0x10000;
  }
  if (more == 0 || text.size() - at < more) return kReplacement;
  char32_t c = first & (0x3FU >> more);
  for (std::size_t i = 0; i < more; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xC0U) != 0x80U) return kReplacement;
    c = (c << 6U) | (byte & 0x3FU);
  }
  if (c < least || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return kReplacement;
  at += more;
  return c;
}

void append_code_point(std::string& out, char32_t c) {
  const auto byte = [&](char32_t bits) {
    out += static_cast<char>(static_cast<unsigned char>(bits));
  };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0U | (c >> 6U));
    byte(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    byte(0xE0U | (c >> 12U));
    byte(0x80U | ((c >> 6U) & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  } else {
    byte(0xF0U | (c >> 18U));
    byte(0x80U | ((c >> 12U) & 0x3FU));
    byte(0x80U | ((c >> 6U) & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  }
}

std::string well_formed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) append_code_point(out, next_code_point(text, at));
  return out;
}

bool is_unprintable(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c <= 0x9F)) return true;
  return c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

bool is_hidden(char32_t c) {
  return c == 0x00AD || c == 0x061C || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

std::size_t display_width(char32_t c) {
  if (c < 0x300) return 1;
  if (in_one_of(c, kCombining)) return 0;
  return in_one_of(c, kWide) ? 2 : 1;
}

std::string code_point_name(char32_t c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string digits;
  for (; c != 0 || digits.size() < 4; c >>= 4U) digits.insert(digits.begin(), kDigits[c & 0xFU]);
  return "U+" + digits;
}

void append_visible(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (c == '\t') {
      out += ' ';
    } else if (c != '\n' && (is_unprintable(c) || is_hidden(c))) {
      append_code_point(out, kReplacement);
    } else {
      append_code_point(out, c);
    }
  }
}

std::string escaped_markup(std::string_view text) {
  std::string visible;
  append_visible(visible, text);
  std::string out;
  for (const char c : visible) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string shown(std::string_view name) {
  std::string out;
  append_visible(out, name);
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

}  // namespace gpuctl::diag
