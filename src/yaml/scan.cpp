#include "yaml/scan.hpp"

#include <array>

namespace gpuctl::yaml {

namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Walks raw text and value together. Each step either proves that they agree or fails.
class Walk {
 public:
  Walk(std::string_view text, std::size_t at, std::string_view value,
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
    at_ += digits;
    // The value is known, so the length of what the escape stands for is all that is needed.
    std::size_t length = 1;
    if (digits != 0) {
      if (done()) return false;
      const auto lead = static_cast<unsigned char>(value_[used_]);
      length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    } else if (c == 'N' || c == '_') {
      length = 2;
    } else if (c == 'L' || c == 'P') {
      length = 3;
    }
    if (at_ > text_.size() || used_ + length > value_.size()) return false;
    return take(value_.substr(used_, length), start);
  }

  // A block scalar. Its indentation follows from the first line with content: what stands there
  // in the text, less what of it the value keeps.
  bool block(bool folded) {
    while (at_ < text_.size() && break_at(at_) == 0) ++at_;
    std::size_t lines = at_ + break_at(at_);
    const std::size_t indent = block_indent(lines);
    end_ = value_end_ = at_;
    at_ = lines;
    while (!done()) {
      // At the start of a line.
      std::size_t blanks = 0;
      while (blanks < indent && at_ < text_.size() && text_[at_] == ' ') {
        ++at_;
        ++blanks;
      }
      while (!done() && at_ < text_.size() && break_at(at_) == 0) {
        if (text_[at_] != value_[used_]) return false;
        note(at_++);
        ++used_;
        end_ = value_end_ = at_;
      }
      if (done()) break;
      if (at_ >= text_.size()) return take("\n", at_) && done();
      if (!(folded ? fold_block(indent) : keep_break())) return false;
    }
    return true;
  }

  std::size_t block_indent(std::size_t at) const {
    std::size_t in_value = value_.find_first_not_of(" \n");
    if (in_value == std::string_view::npos) in_value = value_.size();
    std::size_t kept = 0;
    while (in_value > kept && value_[in_value - kept - 1] == ' ') ++kept;
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

  bool keep_break() {
    if (!take("\n", at_)) return false;
    at_ += break_at(at_);
    value_end_ = at_;
    return true;
  }

  // At the break that ends a line of a folded scalar: this break and those of the empty lines
  // behind it stand for a space, for one line feed less, or, around more indented lines and at the
  // end, for themselves.
  bool fold_block(std::size_t indent) {
    std::vector<std::size_t> breaks;
    std::size_t next = at_;
    for (std::size_t probe = at_; break_at(probe) != 0;) {
      breaks.push_back(probe);
      probe += break_at(probe);
      next = probe;
      for (std::size_t i = 0; i < indent && probe < text_.size() && text_[probe] == ' '; ++i) {
        ++probe;
      }
    }
    std::size_t feeds = 0;
    while (used_ + feeds < value_.size() && value_[used_ + feeds] == '\n') ++feeds;
    if (feeds == 0) {
      if (breaks.size() != 1 || !take(" ", breaks.front())) return false;
    } else {
      if (feeds > breaks.size()) return false;
      const bool last = used_ + feeds == value_.size();  // trailing breaks may be clipped
      const std::size_t skipped = last ? 0 : breaks.size() - feeds;
      if (skipped > 1) return false;
      for (std::size_t i = 0; i < feeds; ++i) {
        if (!take("\n", breaks[skipped + i])) return false;
      }
      const std::size_t final = breaks[skipped + feeds - 1];
      value_end_ = final + break_at(final);
    }
    at_ = next;
    return true;
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
  return Walk(text, at, value, offsets).run();
}

}  // namespace gpuctl::yaml
