#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace gpuctl::base {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  parts.reserve(1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), separator)));
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    if (end == std::string_view::npos) {
      parts.push_back(text.substr(begin));
      return parts;
    }
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kMost = 3;
  constexpr std::size_t kLongest = 256;  // time grows with the product of both lengths
  if (word.size() > kLongest) return {};
  std::vector<std::pair<std::size_t, std::string>> found;
  const std::string lower = to_lower(word);
  for (const std::string& candidate : candidates) {
    const std::size_t limit = std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
    if (std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size()) > limit) {
      continue;  // so many letters are missing at least
    }
    const std::size_t distance = edit_distance(lower, to_lower(candidate));
    if (distance <= limit) found.emplace_back(distance, candidate);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() > kMost) found.resize(kMost);
  std::vector<std::string> out;
  out.reserve(found.size());
  for (auto& [distance, name] : found) out.push_back(std::move(name));
  return out;
}

std::vector<std::string> nearest_or_longer(std::string_view word,
                                           std::span<const std::string> candidates) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> out = nearest(word, candidates);
  if (!out.empty() || word.empty()) return out;
  const std::string lower = to_lower(word);
  for (const std::string& candidate : candidates) {
    if (out.size() == kMost) break;
    if (candidate.size() > lower.size() && to_lower(candidate).starts_with(lower) &&
        std::string_view(" -._").find(candidate[lower.size()]) != std::string_view::npos) {
      out.push_back(candidate);
    }
  }
  return out;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string format_real(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  std::array<char, 40> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string out(buffer.data(), end);
  // YAML 1.1 readers want a dot in the mantissa of an exponent form.
  const std::size_t exponent = out.find('e');
  if (out.find('.') == std::string::npos) {
    out.insert(exponent == std::string::npos ? out.size() : exponent, ".0");
  }
  return out;
}

bool valid_utf8(std::string_view text, std::size_t* bad) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t i = 0;
  while (i < text.size()) {
    const unsigned char c = byte(i);
    std::size_t length = 0;
    if (c < 0x80) {
      ++i;
      continue;
    }
    if (c >= 0xC2 && c <= 0xDF) {
      length = 2;
    } else if (c >= 0xE0 && c <= 0xEF) {
      length = 3;
    } else if (c >= 0xF0 && c <= 0xF4) {
      length = 4;
    }
    bool ok = length != 0 && i + length <= text.size();
    for (std::size_t k = 1; ok && k < length; ++k) ok = continues_character(text[i + k]);
    if (ok && c == 0xE0) ok = byte(i + 1) >= 0xA0;
    if (ok && c == 0xED) ok = byte(i + 1) <= 0x9F;
    if (ok && c == 0xF0) ok = byte(i + 1) >= 0x90;
    if (ok && c == 0xF4) ok = byte(i + 1) <= 0x8F;
    if (!ok) {
      if (bad != nullptr) *bad = i;
      return false;
    }
    i += length;
  }
  return true;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

namespace {

bool is_lower_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_dns1123_part(std::string_view text) {
  return !text.empty() && is_lower_alphanumeric(text.front()) &&
         is_lower_alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return is_lower_alphanumeric(c) || c == '-';
         });
}

}  // namespace

std::string percent_encoded(std::string_view text, std::string_view keep) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       keep.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 0xFU];
    }
  }
  return out;
}

bool is_dns1123_label(std::string_view text) {
  constexpr std::size_t kMostLabelBytes = 63;
  return text.size() <= kMostLabelBytes && is_dns1123_part(text);
}

bool is_dns1123_subdomain(std::string_view text) {
  constexpr std::size_t kMostNameBytes = 253;
  if (text.size() > kMostNameBytes) return false;
  const std::vector<std::string_view> parts = split(text, '.');
  return std::all_of(parts.begin(), parts.end(), is_dns1123_part);
}

std::string counted(std::size_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::size_t character_limit(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  // No character has more than three bytes after its first.
  for (int i = 0; i < 3 && most != 0; ++i) {
    if (!continues_character(text[most])) break;
    --most;
  }
  return most;
}

}  // namespace gpuctl::base
