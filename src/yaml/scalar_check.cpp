#include "yaml/scalar_check.hpp"

#include <algorithm>

namespace gpuctl::yaml {

namespace {

constexpr std::string_view kSpaceOrBreak = " \t\r\n";
constexpr std::string_view kIndentHelp =
    "indent it with spaces, further than the key or item it belongs to";

std::size_t count_spaces(std::string_view text, std::size_t at) {
  const std::size_t stop = std::min(text.find_first_not_of(' ', at), text.size());
  return stop - at;
}

bool ends_line(std::string_view text, std::size_t at) {
  return at >= text.size() || text[at] == '\n' || text.substr(at).starts_with("\r\n");
}

// Every line of a flow scalar but the first is indented; blank ones need not be.
std::optional<Fault> check_lines(std::string_view text, const ScalarPlace& place,
                                 std::ptrdiff_t column) {
  if (column < 0) return std::nullopt;
  // Nothing behind the scalar is looked at: a file of many scalars is read in linear time.
  const std::string_view scalar = text.substr(0, place.end);
  for (std::size_t at = scalar.find('\n', place.begin); at < scalar.size();
       at = scalar.find('\n', at)) {
    ++at;
    const std::size_t content = scalar.find_first_not_of(" \t", at);
    if (content == std::string_view::npos || ends_line(scalar, content)) continue;
    if (auto fault = check_line(scalar, at, column)) return fault;
  }
  return std::nullopt;
}

std::optional<Fault> check_escapes(std::string_view text, const ScalarPlace& place) {
  const std::string_view scalar = text.substr(0, place.end);
  for (std::size_t at = scalar.find('\\', place.begin); at < scalar.size();
       at = scalar.find('\\', at + 2)) {
    if (scalar.substr(at + 1).starts_with('\'')) {
      return Fault{at, at + 2, "an unknown escape in a double-quoted text",
                   "a single quote needs no escape between double quotes"};
    }
  }
  return std::nullopt;
}

// The head of a block text: its first line, and the blank lines in front of its content.
struct BlockHead {
  std::size_t signs_end = 0;  // behind `|`, `>` and what follows them
  bool counted = false;       // the indentation is given
  bool content = false;       // a line that is not blank belongs to the text
  std::size_t spaces = 0;     // in front of the first line that is not blank
  std::size_t deepest = 0;    // most blanks on a line before that
  std::size_t deepest_at = 0;
};

BlockHead block_head(std::string_view text, const ScalarPlace& place, std::ptrdiff_t column) {
  BlockHead head;
  head.signs_end = std::min(text.find_first_not_of("+-0123456789", place.begin + 1), text.size());
  head.counted =
      text.substr(place.begin, head.signs_end - place.begin).find_first_of("123456789") !=
      std::string_view::npos;
  const std::size_t first = text.find('\n', head.signs_end);
  for (std::size_t at = first; at < text.size(); at = text.find('\n', at)) {
    ++at;
    head.spaces = count_spaces(text, at);
    if (!ends_line(text, at + head.spaces)) {
      head.content = static_cast<std::ptrdiff_t>(head.spaces) > column;
      break;
    }
    if (at + head.spaces < text.size() && head.spaces > head.deepest) {
      head.deepest = head.spaces;
      head.deepest_at = at;
    }
  }
  return head;
}

std::optional<Fault> check_block(std::string_view text, const ScalarPlace& place,
                                 std::ptrdiff_t column) {
  const BlockHead head = block_head(text, place, column);
  if (text.substr(head.signs_end).starts_with('#')) {
    return Fault{head.signs_end, head.signs_end + 1, kCommentFault, kCommentHelp};
  }
  if (head.content && !head.counted && head.deepest > head.spaces) {
    return Fault{head.deepest_at, head.deepest_at + head.deepest,
                 "an empty line with more blanks than the first line of the text behind it",
                 "remove the blanks"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> check_line(std::string_view text, std::size_t line, std::ptrdiff_t column) {
  const std::size_t spaces = count_spaces(text, line);
  if (static_cast<std::ptrdiff_t>(spaces) > column) return std::nullopt;
  const std::size_t at = line + spaces;
  if (at < text.size() && text[at] == '\t') {
    return Fault{at, at + 1, "a tab in the indentation", "indent with spaces", true};
  }
  return Fault{at, std::min(at + 1, text.size()), "this line is not indented far enough",
               kIndentHelp, true};
}

std::optional<Fault> check_scalar(std::string_view text, const ScalarPlace& place,
                                  const Surroundings& around) {
  switch (place.style) {
    case Style::literal:
    case Style::folded:
      return check_block(text, place, around.column);
    case Style::double_quoted:
      if (auto fault = check_escapes(text, place)) return fault;
      return check_lines(text, place, around.column);
    case Style::single_quoted:
      return check_lines(text, place, around.column);
    case Style::plain:
      break;
  }
  const std::string_view word = text.substr(place.begin, place.end - place.begin);
  if (around.flow && (word == "-" || word == "?" || word == ":")) {
    return Fault{place.begin, place.end, "a sign of YAML where a text is expected",
                 "quote it if it is meant as text"};
  }
  return around.flow ? check_lines(text, place, around.column) : std::nullopt;
}

std::optional<Fault> check_last_line(std::string_view text, const ScalarPlace& place,
                                     std::ptrdiff_t column) {
  if (place.style != Style::literal && place.style != Style::folded) return std::nullopt;
  const std::size_t line = text.find_last_not_of(" \t") + 1;
  if (line == text.size() || line == 0 || text[line - 1] != '\n') return std::nullopt;
  const std::size_t behind = std::max<std::size_t>(place.end, place.begin + 1);
  if (text.find_first_not_of(kSpaceOrBreak, behind) != std::string_view::npos) return std::nullopt;
  const BlockHead head = block_head(text, place, column);
  if (head.content && !head.counted && text.size() - line <= head.spaces) return std::nullopt;
  return Fault{line, text.size(), "blanks behind a block text, at the end of the file",
               "remove them"};
}

}  // namespace gpuctl::yaml
