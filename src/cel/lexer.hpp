// Tokens of an expression.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cel/program.hpp"

namespace gpuctl::cel {

enum class TokenKind : std::uint8_t {
  end,
  identifier,  // text; reserved words too
  quoted,      // a field name in backticks: text
  integer,     // text: digits as written
  real,        // real
  string,      // text: unescaped
  symbol,      // text: `(`, `&&`, `in`, ...
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::string text;
  double real = 0;
};

/// Splits `source` (valid UTF-8) into tokens, the last of kind end. Returns nothing and a problem
/// at the first place that is no token.
std::vector<Token> tokenize(std::string_view source, std::vector<Problem>& problems);

/// The value of a string literal as written with quotes and prefix; sets `fault` (message and
/// offset of the bad escape) when it is wrong.
struct EscapeFault {
  std::string message;
  std::uint32_t at = 0;
  std::uint32_t length = 0;
};
std::string unescape(std::string_view body, EscapeFault& fault);

/// Appends a code point as UTF-8.
void append_utf8(std::string& out, std::uint32_t code_point);

}  // namespace gpuctl::cel
