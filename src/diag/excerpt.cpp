#include "diag/excerpt.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "diag/character.hpp"

namespace gpuctl::diag {

namespace {

constexpr std::size_t kTabWidth = 4;
constexpr std::string_view kCut = "...";

std::size_t shown_width(char32_t c) {
  if (c == '\t') return kTabWidth;
  return is_unprintable(c) || is_hidden(c) ? 1 : display_width(c);
}

}  // namespace

Excerpt cut_line(std::string_view line, std::size_t focus, std::size_t width) {
  Excerpt excerpt;
  focus = std::min(focus, line.size());
  // A column is at least a quarter of a byte range this long, so nothing beyond can be shown.
  if (line.size() > width && focus > width / 2) {
    excerpt.begin = base::character_limit(line, focus - width / 3);
    excerpt.shown = kCut;
    excerpt.lead = kCut.size();
  }
  std::size_t used = excerpt.lead;
  for (excerpt.end = excerpt.begin; excerpt.end < line.size();) {
    std::size_t next = excerpt.end;
    const char32_t c = next_code_point(line, next);
    used += shown_width(c);
    if (used > width) {
      excerpt.shown += kCut;
      return excerpt;
    }
    if (c == '\t') {
      excerpt.shown.append(kTabWidth, ' ');
    } else {
      append_visible(excerpt.shown, line.substr(excerpt.end, next - excerpt.end));
    }
    excerpt.end = next;
  }
  return excerpt;
}

std::size_t column_of(const Excerpt& excerpt, std::string_view line, std::size_t offset) {
  std::size_t column = excerpt.lead;
  const std::size_t end = std::clamp(offset, excerpt.begin, excerpt.end);
  for (std::size_t i = excerpt.begin; i < end;) column += shown_width(next_code_point(line, i));
  return column;
}

}  // namespace gpuctl::diag
