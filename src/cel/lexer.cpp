#include "cel/lexer.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "base/text.hpp"

namespace gpuctl::cel {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
std::uint32_t hex_value(char c) {
  if (base::is_digit(c)) return static_cast<std::uint32_t>(c - '0');
  return static_cast<std::uint32_t>((c | 0x20) - 'a') + 10;
}

// Bytes of the operator or bracket that begins with `first`; 0 when there is none.
std::size_t symbol_length(char first, char second) {
  switch (first) {
    case '&':
    case '|':
      return second == first ? 2 : 0;
    case '=':
      return second == '=' ? 2 : 0;
    case '!':
    case '<':
    case '>':
      return second == '=' ? 2 : 1;
    default:
      return std::string_view("()[]{}.,:?+-*/%").find(first) != std::string_view::npos ? 1 : 0;
  }
}

class Lexer {
 public:
  Lexer(std::string_view source, std::vector<Problem>& problems)
      : source_(source), problems_(problems) {}

  std::vector<Token> run() {
    constexpr std::size_t kBytesPerToken = 3;  // seldom fewer; saves growing
    tokens_.reserve(source_.size() / kBytesPerToken + 2);
    while (true) {
      skip_space();
      if (at_ >= source_.size()) break;
      if (!next()) return {};
    }
    Token end;  // where something is missing: right after the last token, not after the last line
    end.begin = end.end = tokens_.empty() ? 0 : tokens_.back().end;
    tokens_.push_back(std::move(end));
    return std::move(tokens_);
  }

 private:
  std::uint32_t position() const { return static_cast<std::uint32_t>(at_); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  bool fail(std::size_t begin, std::size_t end, std::string message, std::string help = {}) {
    problems_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                         std::move(message), std::move(help), true});
    return false;
  }

  void skip_space() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < source_.size() && source_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  void push(TokenKind kind, std::size_t begin, std::string text) {
    Token token;
    token.kind = kind;
    token.begin = static_cast<std::uint32_t>(begin);
    token.end = position();
    token.text = std::move(text);
    tokens_.push_back(std::move(token));
  }

  bool next() {
    const char c = peek();
    if (base::is_digit(c) || (c == '.' && base::is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return string(at_, false);
    if (c == '`') return quoted();
    if (is_letter(c)) {
      if (const std::size_t prefix = string_prefix(); prefix != 0) {
        const std::size_t begin = at_;
        bool raw = false;
        for (std::size_t i = 0; i < prefix; ++i) {
          const char letter = source_[at_ + i];
          if (letter == 'b' || letter == 'B') {
            return fail(begin, begin + prefix + 1, "bytes literals are not supported",
                        "write a string");
          }
          raw = true;
        }
        at_ += prefix;
        return string(begin, raw);
      }
      return word();
    }
    const std::size_t length = symbol_length(c, peek(1));
    if (length == 0) return unknown();
    const std::size_t begin = at_;
    at_ += length;
    push(TokenKind::symbol, begin, std::string(source_.substr(begin, length)));
    return true;
  }

  bool unknown() {
    std::size_t length = 1;  // take a whole code point into the message
    while (at_ + length < source_.size() &&
           (static_cast<unsigned char>(source_[at_ + length]) & 0xC0) == 0x80) {
      ++length;
    }
    const std::string_view text = source_.substr(at_, length);
    std::string help;
    if (text == "=") help = "equality is written `==`";
    if (text == "&") help = "the operator is `&&`";
    if (text == "|") help = "the operator is `||`";
    if (text == "$") help = "inside an expression a variable is written without `$`";
    const bool printable = static_cast<unsigned char>(text[0]) >= 0x20 && text[0] != 0x7F;
    return fail(at_, at_ + length,
                printable ? "unexpected character `" + std::string(text) + "`"
                          : std::string("unexpected control character"),
                std::move(help));
  }

  // Length of `r`, `b`, `br`, `rb` in any case before a quote; 0 when this is a word.
  std::size_t string_prefix() const {
    const auto is_prefix = [](char c) { return c == 'r' || c == 'R' || c == 'b' || c == 'B'; };
    std::size_t length = 0;
    while (length < 2 && is_prefix(peek(length))) ++length;
    const char quote = peek(length);
    return quote == '"' || quote == '\'' ? length : 0;
  }

  bool word() {
    const std::size_t begin = at_;
    while (is_letter(peek()) || base::is_digit(peek())) ++at_;
    std::string text(source_.substr(begin, at_ - begin));
    const TokenKind kind = text == "in" ? TokenKind::symbol : TokenKind::identifier;
    push(kind, begin, std::move(text));
    return true;
  }

  bool quoted() {
    const std::size_t begin = at_++;
    while (at_ < source_.size() && source_[at_] != '`') {
      const char c = source_[at_];
      if (!is_letter(c) && !base::is_digit(c) && c != '.' && c != '-' && c != '/' && c != ' ') {
        return fail(at_, at_ + 1, "a field name in backticks cannot hold this character",
                    "write an index: `x[\"name\"]`");
      }
      ++at_;
    }
    if (at_ >= source_.size()) return fail(begin, at_, "the field name in backticks has no end");
    std::string text(source_.substr(begin + 1, at_ - begin - 1));
    ++at_;
    if (text.empty()) return fail(begin, at_, "the field name in backticks is empty");
    push(TokenKind::quoted, begin, std::move(text));
    return true;
  }

  bool number() {
    const std::size_t begin = at_;
    bool real = false;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && base::is_hex_digit(peek(2))) {
      at_ += 2;
      while (base::is_hex_digit(peek())) ++at_;
    } else {
      while (base::is_digit(peek())) ++at_;
      if (peek() == '.' && base::is_digit(peek(1))) {
        real = true;
        ++at_;
        while (base::is_digit(peek())) ++at_;
      }
      if (peek() == 'e' || peek() == 'E') {
        const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
        if (base::is_digit(peek(sign))) {
          real = true;
          at_ += sign;
          while (base::is_digit(peek())) ++at_;
        }
      }
    }
    const std::string_view text = source_.substr(begin, at_ - begin);
    if (!real && (peek() == 'u' || peek() == 'U')) {
      return fail(begin, at_ + 1, "unsigned integer literals are not supported",
                  "write `" + std::string(text) + "`");
    }
    if (is_letter(peek())) {
      return fail(begin, at_ + 1, "a number runs into a name");
    }
    push(real ? TokenKind::real : TokenKind::integer, begin, std::string(text));
    if (real) {
      double value = 0;
      std::string padded(text);
      if (padded.front() == '.') padded.insert(padded.begin(), '0');
      const auto result = std::from_chars(padded.data(), padded.data() + padded.size(), value);
      if (result.ec == std::errc::result_out_of_range) {
        // Too small is zero, as everywhere; too large is a mistake.
        if (padded.find("e-") == std::string::npos && padded.find("E-") == std::string::npos) {
          return fail(begin, at_, "the number does not fit a double");
        }
        value = 0;
      }
      tokens_.back().real = value;
    }
    return true;
  }

  bool string(std::size_t begin, bool raw) {
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const std::size_t width = triple ? 3 : 1;
    at_ += width;
    const std::size_t body = at_;
    while (true) {
      if (at_ >= source_.size()) {
        return fail(begin, at_, "the string has no closing quote");
      }
      const char c = source_[at_];
      if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) break;
      if (!triple && (c == '\n' || c == '\r')) {
        return fail(begin, at_, "the string has no closing quote on its line",
                    "a string of several lines stands between three quotes");
      }
      at_ += c == '\\' && !raw && at_ + 1 < source_.size() ? 2 : 1;
    }
    const std::string_view text = source_.substr(body, at_ - body);
    at_ += width;
    if (raw) {
      push(TokenKind::string, begin, std::string(text));
      return true;
    }
    EscapeFault fault;
    std::string value = unescape(text, fault);
    if (!fault.message.empty()) {
      return fail(body + fault.at, body + fault.at + fault.length, std::move(fault.message),
                  "a backslash itself is written `\\\\`; in a raw string, r\"...\", it needs none");
    }
    push(TokenKind::string, begin, std::move(value));
    return true;
  }

  std::string_view source_;
  std::vector<Problem>& problems_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

// Digits after \x, \u, \U; 0 for letters that start no such escape.
std::size_t hex_digits(char letter) {
  switch (letter) {
    case 'x':
    case 'X':
      return 2;
    case 'u':
      return 4;
    case 'U':
      return 8;
    default:
      return 0;
  }
}

bool simple_escape(char letter, std::string& out) {
  static constexpr std::string_view kLetters = "abfnrtv\\?\"'`";
  static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\?\"'`";
  const std::size_t at = kLetters.find(letter);
  if (at == std::string_view::npos) return false;
  out.push_back(kMeanings[at]);
  return true;
}

}  // namespace

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

std::string unescape(std::string_view body, EscapeFault& fault) {
  std::string out;
  out.reserve(body.size());
  const auto fail = [&](std::size_t at, std::size_t length, std::string message) {
    fault = {std::move(message), static_cast<std::uint32_t>(at),
             static_cast<std::uint32_t>(std::min(length, body.size() - at))};
  };
  std::size_t i = 0;
  while (i < body.size()) {
    if (body[i] != '\\') {
      out.push_back(body[i++]);
      continue;
    }
    const std::size_t start = i++;
    const char letter = i < body.size() ? body[i] : '\0';
    if (simple_escape(letter, out)) {
      ++i;
      continue;
    }
    std::uint32_t code = 0;
    if (const std::size_t digits = hex_digits(letter); digits != 0) {
      ++i;
      for (std::size_t k = 0; k < digits; ++k, ++i) {
        if (i >= body.size() || !base::is_hex_digit(body[i])) {
          fail(start, i - start,
               "the escape `\\" + std::string(1, letter) + "` needs " + std::to_string(digits) +
                   " hexadecimal digits");
          return {};
        }
        code = code * 16 + hex_value(body[i]);
      }
    } else if (letter >= '0' && letter <= '3') {
      for (int k = 0; k < 3; ++k, ++i) {
        if (i >= body.size() || body[i] < '0' || body[i] > '7') {
          fail(start, i - start, "an octal escape needs three digits, `\\000` to `\\377`");
          return {};
        }
        code = code * 8 + static_cast<std::uint32_t>(body[i] - '0');
      }
    } else {
      fail(start, 2, "unknown escape sequence");
      return {};
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
      fail(start, i - start, "the escape is no Unicode code point");
      return {};
    }
    append_utf8(out, code);
  }
  return out;
}

std::vector<Token> tokenize(std::string_view source, std::vector<Problem>& problems) {
  return Lexer(source, problems).run();
}

}  // namespace gpuctl::cel
