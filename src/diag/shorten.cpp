#include "diag/shorten.hpp"

namespace gpuctl::diag {

namespace {

constexpr std::size_t kMostSuffixBytes = 32;  // "... (123 bytes)"

// The first `most` bytes, or up to three fewer so that no character is cut.
std::string_view begin_of(std::string_view text, std::size_t most) {
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  for (int i = 0; i < 3 && most != 0 && continues(most); ++i) --most;
  return text.substr(0, most);
}

void append_cut(std::string& out, std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    out += text;
    return;
  }
  out += begin_of(text, most);
  out += "... (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace

std::string shorten(std::string_view text, std::size_t most) {
  if (text.size() <= kMostQuotedBytes) return std::string(text);
  std::string out;
  bool quoted = false;
  bool whole = true;
  for (std::string_view rest = text;;) {
    const std::size_t tick = rest.find('`');
    const std::string_view part = rest.substr(0, tick);
    append_cut(out, part, quoted ? kMostQuotedBytes : most);
    whole = tick == std::string_view::npos;
    if (whole || out.size() > most) break;
    out += '`';
    rest.remove_prefix(tick + 1);
    quoted = !quoted;
  }
  if (whole && out.size() <= most + kMostSuffixBytes) return out;
  return std::string(begin_of(out, most)) + "... (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace gpuctl::diag
