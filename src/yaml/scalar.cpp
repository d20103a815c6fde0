#include "yaml/scalar.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "base/text.hpp"

namespace gpuctl::yaml {

namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Word in the three spellings of the core schema: word, Word, WORD.
bool is_word(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  if (text.front() == word.front()) return text == word;
  if (text.front() != upper(word.front())) return false;
  const std::string_view rest = text.substr(1);
  return rest == word.substr(1) || std::equal(rest.begin(), rest.end(), word.begin() + 1,
                                              [&](char a, char b) { return a == upper(b); });
}

std::string_view skip(std::string_view text, bool (*accept)(char)) {
  const auto* end = std::find_if_not(text.begin(), text.end(), accept);
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return text;
}

// yyyy-m-d, alone or followed by T or blanks and a time.
bool is_timestamp(std::string_view text) {
  const auto number = [&](std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < most && count < text.size() && is_digit(text[count])) ++count;
    text.remove_prefix(count);
    return count >= least;
  };
  const auto dash = [&] {
    if (!text.starts_with('-')) return false;
    text.remove_prefix(1);
    return true;
  };
  if (!number(4, 4) || !dash() || !number(1, 2) || !dash() || !number(1, 2)) return false;
  if (text.empty()) return true;
  if (text.front() != 'T' && text.front() != 't' && text.front() != ' ' && text.front() != '\t') {
    return false;
  }
  return text.find_first_not_of("0123456789:.TtZz+- \t") == std::string_view::npos;
}

// digits(:[0-5]?digit)+ with an optional fraction: base 60 of YAML 1.1.
bool is_sexagesimal(std::string_view unsigned_text) {
  std::string_view rest = skip(unsigned_text, is_digit);
  if (rest.size() == unsigned_text.size() || !rest.starts_with(':')) return false;
  while (rest.starts_with(':')) {
    rest.remove_prefix(1);
    if (rest.size() > 1 && rest[0] <= '5' && is_digit(rest[0]) && is_digit(rest[1])) {
      rest.remove_prefix(2);
    } else if (!rest.empty() && is_digit(rest[0])) {
      rest.remove_prefix(1);
    } else {
      return false;
    }
  }
  if (rest.starts_with('.')) rest = skip(rest.substr(1), is_digit);
  return rest.empty();
}

// [digits][.digits][e[sign]digits].
Plain classify_decimal(std::string_view text, std::string_view unsigned_text, bool plus) {
  std::string_view rest = skip(unsigned_text, is_digit);
  const std::size_t whole = unsigned_text.size() - rest.size();
  if (rest.empty()) {
    if (base::parse_integer(text)) return Plain::integer;
    return !plus && unsigned_text.front() != '0' ? Plain::too_large : Plain::other_number;
  }
  bool dot = false;
  std::size_t fraction = 0;
  if (rest.front() == '.') {
    dot = true;
    const std::string_view after = skip(rest.substr(1), is_digit);
    fraction = rest.size() - 1 - after.size();
    rest = after;
  }
  if (whole + fraction == 0) return Plain::string;
  bool exponent = false;
  bool exponent_sign = false;
  if (!rest.empty() && (rest.front() == 'e' || rest.front() == 'E')) {
    exponent = true;
    rest.remove_prefix(1);
    if (rest.starts_with('+') || rest.starts_with('-')) {
      exponent_sign = true;
      rest.remove_prefix(1);
    }
    const std::string_view after = skip(rest, is_digit);
    if (after.size() == rest.size()) return Plain::string;
    rest = after;
  }
  if (!rest.empty()) return Plain::string;
  // YAML 1.1 wants a dot and, in an exponent, a sign.
  return dot && !plus && (!exponent || exponent_sign) ? Plain::real : Plain::other_real;
}

bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// digits[.digits][p[sign]digits] behind 0x: what strconv of Go takes for a number.
bool is_hexadecimal(std::string_view rest) {
  const std::size_t all = rest.size();
  rest = skip(rest, is_hex_digit);
  std::size_t digits = all - rest.size();
  if (rest.starts_with('.')) {
    const std::string_view fraction = rest.substr(1);
    rest = skip(fraction, is_hex_digit);
    digits += fraction.size() - rest.size();
  }
  if (digits == 0) return false;
  if (!rest.starts_with('p') && !rest.starts_with('P')) return rest.empty();
  rest.remove_prefix(1);
  if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
  return !rest.empty() && skip(rest, is_digit).empty();
}

// An integer with a prefix for its base. Readers written in Go allow a sign behind 0b and 0o.
bool has_base_prefix(std::string_view unsigned_text) {
  if (unsigned_text.size() < 3 || unsigned_text[0] != '0') return false;
  std::string_view digits = unsigned_text.substr(2);
  switch (unsigned_text[1]) {
    case 'x':
    case 'X':
      return is_hexadecimal(digits);
    case 'o':
    case 'O':
    case 'b':
    case 'B':
      break;
    default:
      return false;
  }
  if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
  const bool binary = unsigned_text[1] == 'b' || unsigned_text[1] == 'B';
  return !digits.empty() &&
         digits.find_first_not_of(binary ? "01" : "01234567") == std::string_view::npos;
}

Plain classify_number(std::string_view text) {
  if (text.find('_') != std::string_view::npos) {
    // Readers written in Go look at what is left without underscores, wherever they stand.
    std::string digits(text);
    std::erase(digits, '_');
    return classify_plain(digits) == Plain::string ? Plain::string : Plain::other_number;
  }
  std::string_view rest = text;
  const bool plus = rest.starts_with('+');
  if (plus || rest.starts_with('-')) rest.remove_prefix(1);
  if (rest.empty()) return Plain::string;
  if (rest.front() == '.') {
    const std::string_view word = rest.substr(1);
    if (is_word(word, "inf")) return Plain::real;
    if (rest.size() == text.size() && (word == "nan" || word == "NaN" || word == "NAN")) {
      return Plain::real;
    }
    return classify_decimal(text, rest, plus);
  }
  if (!is_digit(rest.front())) return Plain::string;
  if (has_base_prefix(rest)) return Plain::other_number;
  const Plain decimal = classify_decimal(text, rest, plus);
  if (decimal != Plain::string) return decimal;
  if (is_sexagesimal(rest)) return Plain::other_number;
  if (is_timestamp(text)) return Plain::other_date;
  return Plain::string;
}

}  // namespace

Plain classify_plain(std::string_view text) {
  if (text.empty()) return Plain::null;
  switch (text.front()) {
    case '~':
      return text.size() == 1 ? Plain::null : Plain::string;
    case '=':
      return text.size() == 1 ? Plain::other_word : Plain::string;
    case '<':
      return text == "<<" ? Plain::other_word : Plain::string;
    case 't':
    case 'T':
      return is_word(text, "true") ? Plain::boolean_true : Plain::string;
    case 'f':
    case 'F':
      return is_word(text, "false") ? Plain::boolean_false : Plain::string;
    case 'y':
    case 'Y':
      return text.size() == 1 || is_word(text, "yes") ? Plain::other_truth : Plain::string;
    case 'o':
    case 'O':
      return is_word(text, "on") || is_word(text, "off") ? Plain::other_truth : Plain::string;
    case 'n':
    case 'N':
      if (is_word(text, "null")) return Plain::null;
      return text.size() == 1 || is_word(text, "no") ? Plain::other_truth : Plain::string;
    case '+':
    case '-':
    case '.':
      return classify_number(text);
    default:
      return is_digit(text.front()) ? classify_number(text) : Plain::string;
  }
}

bool is_truth(std::string_view text) {
  return text.starts_with('y') || text.starts_with('Y') || is_word(text, "on");
}

std::optional<std::int64_t> parse_other_number(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  const bool minus = digits.starts_with('-');
  if (minus || digits.starts_with('+')) digits.erase(0, 1);
  int base = 10;
  if (digits.size() > 1 && digits.front() == '0') {
    const char letter = digits[1];
    base = letter == 'x' || letter == 'X' ? 16 : letter == 'b' || letter == 'B' ? 2 : 8;
    const bool marked = base != 8 || letter == 'o' || letter == 'O';
    digits.erase(0, marked ? 2 : 1);
  }
  std::int64_t number = 0;
  if (minus) digits.insert(digits.begin(), '-');
  const char* end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, number, base);
  if (digits.empty() || problem != std::errc() || stop != end) return std::nullopt;
  return number;
}

double parse_real(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  if (text.size() > 1 && text[0] == '.' && (text[1] == 'i' || text[1] == 'I')) {
    value = std::numeric_limits<double>::infinity();
  } else if (text.size() > 1 && text[0] == '.' && (text[1] == 'n' || text[1] == 'N')) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    // from_chars leaves the value alone when it is out of range; strtod would need the locale.
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
      const std::size_t exponent = text.find_first_of("eE");
      const bool tiny = exponent != std::string_view::npos && exponent + 1 < text.size() &&
                        text[exponent + 1] == '-';
      value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    }
  }
  return negative ? -value : value;
}

}  // namespace gpuctl::yaml
