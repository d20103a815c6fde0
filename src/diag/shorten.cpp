#include "diag/shorten.hpp"

#include "base/text.hpp"

namespace gpuctl::diag {

namespace {

constexpr std::size_t kMostSuffixBytes = 32;  // "... (123 bytes)"

void append_cut(std::string& out, std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    out += text;
    return;
  }
  out += text.substr(0, base::character_limit(text, most));
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
  return out.substr(0, base::character_limit(out, most)) + "... (" + std::to_string(text.size()) +
         " bytes)";
}

}  // namespace gpuctl::diag
