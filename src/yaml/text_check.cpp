#include "yaml/text_check.hpp"

#include <limits>
#include <string>

#include "base/text.hpp"
#include "diag/character.hpp"
#include "yaml/codes.hpp"

namespace gpuctl::yaml {

namespace {

// Offset of the first character that is not allowed, or npos.
std::size_t find_forbidden(std::string_view text, bool allow_separators) {
  std::size_t i = byte_order_mark(text);
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t') {
      ++i;
    } else if (c == '\r') {
      if (i + 1 >= text.size() || text[i + 1] != '\n') return i;
      ++i;
    } else if (c < 0x80) {
      return i;
    } else {
      const std::size_t at = i;
      const char32_t point = diag::next_code_point(text, i);
      if (!diag::is_unprintable(point)) continue;
      if (allow_separators && (point == 0x2028 || point == 0x2029)) continue;
      return at;
    }
  }
  return std::string_view::npos;
}

bool looks_like_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  return text.size() > 1 && (text[0] == '\0') != (text[1] == '\0');
}

}  // namespace

std::size_t byte_order_mark(std::string_view text) {
  return text.size() - diag::without_byte_order_mark(text).size();
}

bool check_text(diag::FileId file, diag::Sources& sources, diag::Sink& sink,
                const ReadLimits& limits) {
  const std::string_view text = sources.file_text(file);
  const auto span = [&](std::size_t at, std::size_t size) {
    return sources.add_span(file, static_cast<std::uint32_t>(at),
                            static_cast<std::uint32_t>(at + size));
  };
  // yaml-cpp counts in int, spans in 32 bits.
  if (text.size() > limits.bytes || text.size() > std::numeric_limits<std::int32_t>::max()) {
    sink.error(kInputLimit, span(0, 0), "the file is too large")
        .expect("at most " + std::to_string(limits.bytes) + " bytes")
        .got(std::to_string(text.size()) + " bytes");
    return false;
  }
  if (looks_like_utf16(text)) {
    sink.error(kBadCharacter, span(0, 1), "the file is not in UTF-8")
        .got("UTF-16 or UTF-32")
        .suggest("save the file in UTF-8");
    return false;
  }
  std::size_t bad = 0;
  if (!base::valid_utf8(text, &bad)) {
    sink.error(kBadCharacter, span(bad, 1), "the file is not valid UTF-8")
        .label("this byte belongs to no character")
        .suggest("save the file in UTF-8");
    return false;
  }
  bad = find_forbidden(text, limits.ambiguous_scalars);
  if (bad == std::string_view::npos) return true;
  std::size_t end = bad;
  const char32_t c = diag::next_code_point(text, end);
  diag::Diagnostic& diagnostic =
      sink.error(kBadCharacter, span(bad, end - bad),
                 "character " + diag::code_point_name(c) + " must not stand in a YAML file");
  if (c == '\r') {
    diagnostic.label("a carriage return without a line feed");
  } else if (c == 0xFEFF) {
    diagnostic.label("a byte order mark may only stand at the start");
  } else if (c == 0x2028 || c == 0x2029) {
    diagnostic.label("a line break for some YAML readers only");
  } else {
    diagnostic.label("a control character");
  }
  if (c == 0) {
    diagnostic.suggest("remove it, and check that the file is text");
  } else {
    diagnostic.suggest("remove it, or write it as an escape in a double-quoted string");
  }
  return false;
}

}  // namespace gpuctl::yaml
