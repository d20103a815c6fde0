#include "yaml/gap_check.hpp"

#include <algorithm>
#include <utility>

namespace gpuctl::yaml {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kDirective = "%YAML 1.";

bool is_space(char c) {
  return kBlanks.find(c) != std::string_view::npos;
}

// `---` or `...` as a word of its own.
bool is_marker(std::string_view text, std::string_view marker) {
  return text.starts_with(marker) &&
         (text.size() == marker.size() || is_space(text[marker.size()]));
}

}  // namespace

char GapCheck::scalar(std::size_t begin, std::size_t end) {
  gap(begin);
  content(begin);
  at_ = std::max(at_, end);
  return std::exchange(before_, 's');
}

void GapCheck::finish() {
  gap(text_.size());
  if (directive_ != std::string_view::npos) content(text_.size());
}

std::vector<Fault> GapCheck::take_faults() {
  return std::exchange(faults_, {});
}

void GapCheck::add(std::size_t begin, std::size_t end, std::string_view message,
                   std::string_view help) {
  faults_.push_back({begin, end, message, help});
}

std::size_t GapCheck::line_end(std::size_t at) const {
  return std::min(text_.find_first_of("\r\n", at), text_.size());
}

// Something of a document other than its `---` stands at `at`.
void GapCheck::content(std::size_t at) {
  if (behind_dots_ && text_[at - 1] != '\n') {
    add(at, std::min(text_.find_first_of(kBlanks, at), text_.size()),
        "text behind the end of a document", "start a new line behind `...`");
  }
  if (directive_ != std::string_view::npos) {
    add(directive_, line_end(directive_), "a line that starts with `%` is not accepted here",
        "remove the line, or quote a text that starts with `%`");
  }
  behind_dots_ = false;
  directive_ = std::string_view::npos;
  in_document_ = true;
}

// At the start of a line: takes a marker or a directive. Returns where to go on.
std::size_t GapCheck::line_start(std::size_t end) {
  behind_dots_ = false;
  const std::string_view rest = text_.substr(at_, end - at_);
  if (is_marker(text_.substr(at_), "---") && rest.size() >= 3) {
    directive_ = std::string_view::npos;
    in_document_ = true;
    before_ = '\0';
    return at_ + 3;
  }
  if (is_marker(text_.substr(at_), "...") && rest.size() >= 3) {
    if (directive_ != std::string_view::npos) content(at_);
    in_document_ = false;
    behind_dots_ = true;
    before_ = '\0';
    return at_ + 3;
  }
  if (!rest.starts_with('%')) return at_;
  const std::size_t stop = line_end(at_);
  const std::string_view line = text_.substr(at_, stop - at_);
  const bool version = line.starts_with(kDirective) && line.size() == kDirective.size() + 1 &&
                       line.back() >= '0' && line.back() <= '9';
  if (!in_document_ && version && old_ && line.back() != '1') {
    add(at_, stop, "the reader of this document knows YAML 1.1 only", "remove the line");
  }
  if (in_document_ || !version || directive_ != std::string_view::npos) {
    add(at_, stop, "a line that starts with `%` is not accepted here",
        "remove the line, or quote a text that starts with `%`");
  } else {
    directive_ = at_;
  }
  return stop;
}

void GapCheck::gap(std::size_t end) {
  while (at_ < end) {
    if (at_ == start_ || text_[at_ - 1] == '\n') at_ = line_start(end);
    if (at_ >= end) return;
    const char c = text_[at_];
    if (is_space(c)) {
      ++at_;
      continue;
    }
    if (c == '#') {
      if (at_ > start_ && !is_space(text_[at_ - 1])) {
        add(at_, at_ + 1, kCommentFault, kCommentHelp);
      }
      at_ = line_end(at_);
      continue;
    }
    content(at_);
    switch (c) {
      case '&':
      case '!': {
        const bool verbatim = text_.substr(at_).starts_with("!<");
        at_ = std::min(text_.find_first_of(verbatim ? " \t\r\n" : " \t\r\n,[]{}", at_ + 1), end);
        before_ = 's';
        continue;
      }
      case ',':
        if (before_ == '[' || before_ == '{' || before_ == ',') {
          add(at_, at_ + 1, "nothing stands in front of this comma",
              "remove it, or write `null` or `\"\"`");
        }
        break;
      case '[':
      case ']':
      case '{':
      case '}':
      case ':':
      case '?':
      case '-':
        break;
      default: {
        const std::size_t stop = std::min(text_.find_first_of(kBlanks, at_), end);
        add(at_, stop, "this text belongs to nothing", "quote the whole text it is meant to be in");
        at_ = stop;
        before_ = 's';
        continue;
      }
    }
    before_ = c;
    ++at_;
  }
}

}  // namespace gpuctl::yaml
