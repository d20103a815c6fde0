#include "secrets/decode.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.hpp"

namespace gpuctl::secrets {

namespace {

constexpr std::array<std::int8_t, 256> make_values() {
  std::array<std::int8_t, 256> out{};
  for (auto& value : out) value = -1;
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    out[static_cast<unsigned char>(kLetters[i])] = static_cast<std::int8_t>(i);
  }
  out['-'] = 62;
  out['_'] = 63;
  return out;
}
constexpr std::array<std::int8_t, 256> kValues = make_values();
constexpr std::string_view kGzip = "\x1f\x8b";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// ASCII only: other characters are replaced, as no pattern has any.
void append_unit(std::string& out, int unit) {
  out.push_back(unit < 0x80 ? static_cast<char>(unit) : '?');
}

// Calls `take(byte)` for each byte that `text` holds, until it says false. False for no base64.
template <typename Take>
bool decode_base64(std::string_view text, const Take& take) {
  std::uint32_t bits = 0;
  int held = 0;
  std::size_t letters = 0;
  bool ended = false;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      ended = true;
      continue;
    }
    const int value = kValues[static_cast<unsigned char>(c)];  // NOLINT: it holds numbers, not text
    if (value < 0 || ended) return false;
    ++letters;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      if (!take(static_cast<char>((bits >> static_cast<unsigned>(held)) & 0xFFU))) return true;
    }
  }
  return letters >= 4 && letters % 4 != 1;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t';
}

}  // namespace

std::optional<std::string> from_base64(std::string_view text) {
  std::string out(text.size() / 4 * 3 + 3, '\0');
  std::size_t size = 0;
  const bool good = decode_base64(text, [&](char c) {
    out[size++] = c;
    return true;
  });
  if (!good) return std::nullopt;
  out.resize(size);
  return out;
}

bool may_wrap(std::string_view base64) {
  std::size_t size = 0;
  bool zipped = false;
  bool control = false;
  const bool good = decode_base64(base64, [&](char c) {
    zipped = zipped || (size == 0 && c == kGzip.front());
    control = control || is_control(c);
    return ++size < kGzip.size() || zipped || !control;
  });
  return good && (zipped || !control);
}

std::string from_percent(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

std::string from_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    const char next = text[++i];
    if (next == 'n') {
      out.push_back('\n');
    } else if (next == 't') {
      out.push_back('\t');
    } else if (next == 'r') {
      out.push_back('\r');
    } else if (next == 'u' && i + 4 < text.size()) {
      int unit = 0;
      for (std::size_t k = 1; k <= 4; ++k) unit = unit * 16 + std::max(hex_digit(text[i + k]), 0);
      append_unit(out, unit);
      i += 4;
    } else {
      out.push_back(next);
    }
  }
  return out;
}

std::string_view escaped_lines(std::string_view text) {
  std::size_t first = std::string_view::npos;
  std::size_t last = 0;
  for (std::size_t at = text.find('\\'); at != std::string_view::npos && at + 1 < text.size();
       at = text.find('\\', at + 2)) {
    constexpr std::string_view kSpaces = " \t\r\n";
    if (kSpaces.find(text[at + 1]) != std::string_view::npos) continue;
    if (first == std::string_view::npos) first = at;
    last = at + 1;
  }
  if (first == std::string_view::npos) return {};
  const std::size_t before = text.substr(0, first).rfind('\n');
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', last) - begin);
}

bool is_gzip(std::string_view bytes) {
  return bytes.size() > 18 && bytes.starts_with(kGzip);
}

std::optional<std::string> from_gzip(std::string_view bytes, std::size_t most, bool& cut) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return std::nullopt;
  // The interface of zlib takes no const; it does not write to the input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(bytes.size(), UINT32_MAX));
  std::string out;
  std::array<char, 16384> block{};
  int state = Z_OK;
  while (state == Z_OK && out.size() <= most) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(block.data(), block.size() - stream.avail_out);
    if (state == Z_BUF_ERROR) break;
  }
  inflateEnd(&stream);
  cut = out.size() > most;
  if (cut) out.resize(most);
  if (out.empty()) return std::nullopt;
  return out;
}

bool is_readable(std::string_view bytes) {
  std::size_t controls = 0;
  std::size_t others = 0;
  for (const char c : bytes) {
    if (is_control(c)) ++controls;
    if (static_cast<unsigned char>(c) >= 0x7F) ++others;
  }
  // A few bytes of random data may be valid UTF-8.
  return controls == 0 && others * 4 <= bytes.size() && (others == 0 || base::valid_utf8(bytes));
}

}  // namespace gpuctl::secrets
