#include "yaml/scan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>

#include "diag/character.hpp"

namespace gpuctl::yaml {

namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// What `\` and `c` stand for in double quotes; nothing that agrees with any value when they are no
// escape.
char32_t escaped_character(char c) {
  switch (c) {
    case '0':
      return 0;
    case 'a':
      return 0x07;
    case 'b':
      return 0x08;
    case 't':
    case '\t':
      return 0x09;
    case 'n':
      return 0x0A;
    case 'v':
      return 0x0B;
    case 'f':
      return 0x0C;
    case 'r':
      return 0x0D;
    case 'e':
      return 0x1B;
    case 'N':
      return 0x85;
    case '_':
      return 0xA0;
    case 'L':
      return 0x2028;
    case 'P':
      return 0x2029;
    case ' ':
    case '"':
    case '/':
    case '\'':  // no escape of YAML: check_scalar() says so
    case '\\':
      return static_cast<unsigned char>(c);
    default:
      return 0xFFFFFFFF;
  }
}

// Walks raw text and value together. Each step either proves that they agree or fails.
class CharacterWalk {
 public:
  CharacterWalk(std::string_view text, std::size_t at, std::string_view value,
                std::vector<std::uint32_t>* offsets)
      : text_(text), at_(at), value_(value), offsets_(offsets) {
    if (offsets_ != nullptr) {
      offsets_->clear();
      offsets_->reserve(value.size() + 1);
    }
  }

  ScalarPlace run() {
    ScalarPlace place;
    place.begin = static_cast<std::uint32_t>(at_);
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    switch (first) {
      case '"':
        place.style = Style::double_quoted;
        place.match = double_quoted();
        break;
      case '\'':
        place.style = Style::single_quoted;
        place.match = single_quoted();
        break;
      case '|':
      case '>':
        place.style = first == '|' ? Style::literal : Style::folded;
        place.match = block(first == '>') ? Match::yes : Match::no;
        break;
      default:
        place.match = plain() ? Match::yes : Match::no;
        break;
    }
    place.end = static_cast<std::uint32_t>(end_);
    if (offsets_ != nullptr) {
      if (place.match == Match::yes) {
        note(value_end_);
      } else {
        offsets_->clear();
      }
    }
    return place;
  }

 private:
  bool done() const { return used_ == value_.size(); }

  void note(std::size_t offset) {
    if (offsets_ != nullptr) offsets_->push_back(static_cast<std::uint32_t>(offset));
  }

  // Takes `bytes` from the value; all of them stand at `offset`.
  bool take(std::string_view bytes, std::size_t offset) {
    if (!value_.substr(used_).starts_with(bytes)) return false;
    used_ += bytes.size();
    for (std::size_t i = 0; i < bytes.size(); ++i) note(offset);
    return true;
  }

  // Takes the bytes [begin, end) of the text as they are.
  bool take_run(std::size_t begin, std::size_t end) {
    if (!value_.substr(used_).starts_with(text_.substr(begin, end - begin))) return false;
    used_ += end - begin;
    if (offsets_ != nullptr) {
      for (std::size_t at = begin; at < end; ++at) note(at);
    }
    return true;
  }

  // Length of the line break at `at`: 0, 1 or 2.
  std::size_t break_at(std::size_t at) const {
    if (at >= text_.size()) return 0;
    if (text_[at] == '\n') return 1;
    return text_[at] == '\r' && at + 1 < text_.size() && text_[at + 1] == '\n' ? 2 : 0;
  }

  // At blanks that end a line, or at its break: folds this break, blank lines and the
  // indentation of the next line. False when that is not what the value says.
  bool fold() {
    std::size_t at = at_;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    std::size_t first = at;
    std::size_t breaks = 0;
    while (const std::size_t length = break_at(at)) {
      if (++breaks > 1 && !take("\n", at)) return false;
      at += length;
      while (at < text_.size() && is_blank(text_[at])) ++at;
    }
    at_ = at;
    return breaks > 1 || take(" ", first);
  }

  // At a blank or a break: folds when the line ends here, otherwise takes the blanks as they are.
  bool space() {
    std::size_t end = at_;
    while (end < text_.size() && is_blank(text_[end])) ++end;
    if (break_at(end) != 0) return fold();
    for (; at_ < end; ++at_) {
      if (!take(text_.substr(at_, 1), at_)) return false;
    }
    return true;
  }

  bool plain() {
    while (!done()) {
      if (at_ >= text_.size()) return false;
      const char c = text_[at_];
      if (is_blank(c) || break_at(at_) != 0) {
        if (!space()) return false;
      } else if (c == value_[used_]) {
        note(at_);
        ++used_;
        ++at_;
      } else {
        return false;
      }
    }
    end_ = value_end_ = at_;
    return true;
  }

  Match single_quoted() {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\'' && at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
        if (!take("'", at_)) return Match::no;
        at_ += 2;
      } else if (c == '\'') {
        value_end_ = at_;
        end_ = at_ + 1;
        return done() ? Match::yes : Match::no;
      } else if (!quoted_character()) {
        return Match::no;
      }
    }
    end_ = at_;
    return Match::unterminated;
  }

  // What both kinds of quotes hold besides their own escapes: white space, or a character that
  // stands for itself.
  bool quoted_character() {
    if (is_blank(text_[at_]) || break_at(at_) != 0) return space();
    if (!take(text_.substr(at_, 1), at_)) return false;
    ++at_;
    return true;
  }

  Match double_quoted() {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        value_end_ = at_;
        end_ = at_ + 1;
        return done() ? Match::yes : Match::no;
      }
      if (c == '\\') {
        if (at_ + 1 >= text_.size()) break;
        if (!escape()) return Match::no;
      } else if (!quoted_character()) {
        return Match::no;
      }
    }
    end_ = at_;
    return Match::unterminated;
  }

  bool escape() {
    const std::size_t start = at_;
    const char c = text_[at_ + 1];
    at_ += 2;
    if (c == '\n' || c == '\r') {  // an escaped break joins the lines
      if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      return true;
    }
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    char32_t point = 0;
    if (digits == 0) {
      point = escaped_character(c);
    } else {
      const std::string_view number = text_.substr(at_, digits);
      std::uint32_t parsed = 0;
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), parsed, 16);
      if (error != std::errc() || end != number.data() + digits) return false;
      point = parsed;
    }
    at_ += digits;
    std::string bytes;
    diag::append_code_point(bytes, point);
    return take(bytes, start);
  }

  // A block text by the rules of chapter 8.1. Only its indentation, when a number gives it, is
  // taken from the value: what stands in front of the first line with content in the text, less
  // what of it the value keeps.
  bool block(bool folded) {
    const std::size_t head = std::min(text_.find('\n', at_), text_.size());
    const std::string_view signs =
        text_.substr(at_ + 1, text_.find_first_of(" \t\r\n#", at_) - at_ - 1);
    end_ = head > at_ && text_[head - 1] == '\r' ? head - 1 : head;
    value_end_ = end_;
    at_ = std::min(head + 1, text_.size());
    const bool counted = signs.find_first_of("123456789") != std::string_view::npos;
    const std::size_t indent = block_indent(at_, counted);
    std::vector<std::size_t> breaks;  // behind the last line with content, not in the value yet
    bool content = false;             // there was such a line
    bool more_indented = false;       // and it started with a blank
    while (at_ < text_.size() && has_content()) {
      std::size_t blanks = 0;
      while (blanks < indent && at_ + blanks < text_.size() && text_[at_ + blanks] == ' ') ++blanks;
      const std::size_t line = at_ + blanks;
      if (const std::size_t length = break_at(line); length != 0) {  // empty
        breaks.push_back(line);
        at_ = line + length;
        continue;
      }
      if (blanks < indent) break;  // what follows the block text
      const bool blank = is_blank(text_[line]);
      const bool fold = folded && content && !blank && !more_indented;
      if (fold && breaks.size() == 1 && !take(" ", breaks.front())) return false;
      for (std::size_t i = fold ? 1 : 0; i < breaks.size(); ++i) {
        if (!take("\n", breaks[i])) return false;
      }
      breaks.clear();
      std::size_t stop = std::min(text_.find('\n', line), text_.size());
      if (stop > line && stop < text_.size() && text_[stop - 1] == '\r') --stop;
      if (!take_run(line, stop)) return false;
      end_ = value_end_ = stop;
      content = true;
      more_indented = blank;
      if (break_at(stop) != 0) breaks.push_back(stop);
      at_ = stop + break_at(stop);
    }
    return chomp(signs, content, breaks) && done();
  }

  // False on a last line of blanks without an end: it belongs to nothing.
  bool has_content() const { return text_.find_first_not_of(" \t", at_) != std::string_view::npos; }

  // The line breaks at the end.
  bool chomp(std::string_view signs, bool content, const std::vector<std::size_t>& breaks) {
    const bool keep = signs.find('+') != std::string_view::npos;
    const bool strip = signs.find('-') != std::string_view::npos;
    if (strip || breaks.empty() || (!keep && !content)) return true;
    for (const std::size_t at : std::span(breaks).first(keep ? breaks.size() : 1)) {
      if (!take("\n", at)) return false;
      value_end_ = at + break_at(at);
    }
    return true;
  }

  std::size_t block_indent(std::size_t at, bool counted) const {
    std::size_t in_value = value_.find_first_not_of(" \n");
    if (in_value == std::string_view::npos) in_value = value_.size();
    std::size_t kept = 0;
    while (in_value > kept && value_[in_value - kept - 1] == ' ') ++kept;
    if (!counted) kept = 0;
    // Without content every line that is not empty is what follows.
    if (value_.find_first_not_of('\n') == std::string_view::npos) return std::string_view::npos;
    std::size_t column = 0;
    for (; at < text_.size(); ++at) {
      if (text_[at] == ' ') {
        ++column;
      } else if (text_[at] == '\n') {
        column = 0;
      } else if (text_[at] != '\r') {
        break;
      }
    }
    return column > kept ? column - kept : 0;
  }

  std::string_view text_;
  std::size_t at_;
  std::string_view value_;
  std::size_t used_ = 0;  // bytes of the value already found
  std::size_t end_ = 0;
  std::size_t value_end_ = 0;
  std::vector<std::uint32_t>* offsets_;
};

// The common case, without a loop over bytes: one line whose text is the value.
bool locate_verbatim(std::string_view text, std::size_t at, std::string_view value,
                     ScalarPlace& place) {
  if (at >= text.size() || value.empty()) return false;
  const char quote = text[at];
  if (quote == '|' || quote == '>') return false;
  const bool quoted = quote == '"' || quote == '\'';
  const std::size_t begin = quoted ? at + 1 : at;
  if (text.substr(begin, value.size()) != value) return false;
  const std::size_t end = begin + value.size();
  if (quoted) {
    if (end >= text.size() || text[end] != quote) return false;
    // An escape or a doubled quote in the text cannot be in a verbatim value unless it is longer.
    const std::array<char, 3> special = {quote, '\\', '\n'};
    if (value.find_first_of(std::string_view(special.data(), special.size())) !=
        std::string_view::npos) {
      return false;
    }
    if (quote == '\'' && end + 1 < text.size() && text[end + 1] == quote) return false;
  } else if (value.find('\n') != std::string_view::npos) {
    return false;
  }
  place.match = Match::yes;
  place.style = quote == '"'    ? Style::double_quoted
                : quote == '\'' ? Style::single_quoted
                                : Style::plain;
  place.begin = static_cast<std::uint32_t>(at);
  place.end = static_cast<std::uint32_t>(quoted ? end + 1 : end);
  return true;
}

}  // namespace

std::size_t skip_separation(std::string_view text, std::size_t at) {
  bool comment = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      comment = false;
    } else if (!comment && c == '#') {
      comment = true;
    } else if (!comment && !is_blank(c) && c != '\r') {
      break;
    }
  }
  return at;
}

std::size_t skip_properties(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
    const bool verbatim = text.substr(at).starts_with("!<");
    while (at < text.size() && !is_blank(text[at]) && text[at] != '\n' && text[at] != '\r') {
      if (!verbatim && std::string_view(",[]{}").find(text[at]) != std::string_view::npos) {
        return at;
      }
      ++at;
    }
    at = skip_separation(text, at);
  }
  return at;
}

ScalarPlace locate_scalar(std::string_view text, std::size_t at, std::string_view value,
                          std::vector<std::uint32_t>* offsets) {
  ScalarPlace place;
  if (offsets == nullptr && locate_verbatim(text, at, value, place)) return place;
  return CharacterWalk(text, at, value, offsets).run();
}

}  // namespace gpuctl::yaml
