// Text functions without locale: splitting, joining, edit distance, numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuctl::base {

/// Splits at every `separator`; "a,,b" gives {"a", "", "b"}, "" gives {""}.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Joins with `separator` between the parts.
std::string join(std::span<const std::string> parts, std::string_view separator);

/// Optimal string alignment distance (insert, delete, replace, swap of neighbours), in bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidates nearest to `word`: distance at most max(1, length/3), at most three, nearest
/// first and ties by name. Empty when nothing is near.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// The same; when nothing is near, at most three candidates that continue `word` after one of
/// ` -._`, in their order: a model named without its memory.
std::vector<std::string> nearest_or_longer(std::string_view word,
                                           std::span<const std::string> candidates);

/// Parses a decimal integer `-?(0|[1-9][0-9]*)` that fits 64 bits; nothing else is accepted
/// (no plus sign, no leading zero, no hexadecimal).
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Shortest text that reads back as the same double, independent of the locale. Always carries
/// a `.` or an exponent, so that a reader sees a floating point number.
std::string format_real(double value);

/// True when `text` is valid UTF-8 (no overlong forms, surrogates or values over U+10FFFF).
/// `bad` receives the offset of the first bad byte.
bool valid_utf8(std::string_view text, std::size_t* bad = nullptr);

/// Number of Unicode code points in valid UTF-8.
std::size_t code_points(std::string_view text);

/// Lower-cases ASCII letters only.
std::string to_lower(std::string_view text);

/// `text` with each byte as `%2F` that is neither unreserved (RFC 3986) nor one of `keep`.
std::string percent_encoded(std::string_view text, std::string_view keep = {});

/// True for a DNS-1123 label: 1..63 of [a-z0-9-], starting and ending alphanumeric.
bool is_dns1123_label(std::string_view text);

/// True for a name such as most objects have: labels with dots between them, of which only the
/// whole is limited in length, to 253 bytes (apimachinery, IsDNS1123Subdomain).
bool is_dns1123_subdomain(std::string_view text);

/// "1 document", "2 documents".
std::string counted(std::size_t number, const std::string& noun);

/// True for 0 to 9.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// True for a hexadecimal digit, of either case.
constexpr bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// True for a byte of a UTF-8 character that is not its first.
constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The length of the longest beginning of `text` that has at most `most` bytes and cuts no UTF-8
/// character.
std::size_t character_limit(std::string_view text, std::size_t most);

}  // namespace gpuctl::base
