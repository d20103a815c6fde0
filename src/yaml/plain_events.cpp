#include "yaml/plain_events.hpp"

#include <yaml-cpp/mark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuctl::yaml {

namespace {

constexpr std::size_t kMostLine = 1000;  // yaml-cpp takes keys of up to 1024 characters
constexpr std::size_t kMostDepth = 40;

enum Class : std::uint8_t {
  kStart = 1,  // may start a plain scalar, wherever it stands
  kKey = 2,    // may stand in a key, or in a plain scalar within brackets
  kText = 4,   // may stand in a plain scalar outside of brackets, or in a quoted one
};

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> out{};
  for (std::size_t c = 0x20; c < 0x7F; ++c) out[c] = kText;
  const auto add = [&out](char first, char last) {
    for (char c = first; c <= last; ++c) out[static_cast<unsigned char>(c)] |= kStart | kKey;
  };
  add('a', 'z');
  add('A', 'Z');
  add('0', '9');
  for (const char c : {'_', '.', '/', '$', '+'})
    out[static_cast<unsigned char>(c)] |= kStart | kKey;
  out['-'] |= kKey;
  return out;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

bool is(char c, Class one) {
  return (kClasses[static_cast<unsigned char>(c)] & one) != 0;  // NOLINT: numbers, not text
}

// What yaml-cpp takes for null.
bool is_null_word(std::string_view text) {
  return text == "~" || text == "null" || text == "Null" || text == "NULL";
}

struct Event {
  enum class Kind : std::uint8_t { plain, quoted, null, list, map, list_end, map_end };
  Kind kind = Kind::plain;
  bool flow = false;
  std::size_t at = 0;
  std::string_view text;
};

// Reads line by line. Functions give false for whatever is not plain.
class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : text_(text) {}

  bool read() {
    events_.reserve(text_.size() / 8);
    return next_line() && indent_ == 0 && map(0, 0) && at_ == text_.size();
  }

  void replay(YAML::EventHandler& handler) const {
    handler.OnDocumentStart(mark(events_.front().at));
    std::string value;
    for (const Event& event : events_) tell(event, value, handler);
    handler.OnDocumentEnd();
  }

 private:
  static YAML::Mark mark(std::size_t at) {
    YAML::Mark out;
    out.pos = static_cast<int>(at);
    return out;
  }

  static void tell(const Event& event, std::string& value, YAML::EventHandler& handler) {
    static const std::string plain = "?";  // the tag of what has none
    static const std::string quoted = "!";
    const auto style = event.flow ? YAML::EmitterStyle::Flow : YAML::EmitterStyle::Block;
    switch (event.kind) {
      case Event::Kind::plain:
      case Event::Kind::quoted:
        value = event.text;
        handler.OnScalar(mark(event.at), event.kind == Event::Kind::plain ? plain : quoted, 0,
                         value);
        break;
      case Event::Kind::null:
        handler.OnNull(mark(event.at), 0);
        break;
      case Event::Kind::list:
        handler.OnSequenceStart(mark(event.at), plain, 0, style);
        break;
      case Event::Kind::map:
        handler.OnMapStart(mark(event.at), plain, 0, style);
        break;
      case Event::Kind::list_end:
        handler.OnSequenceEnd();
        break;
      case Event::Kind::map_end:
        handler.OnMapEnd();
        break;
    }
  }

  void add(Event::Kind kind, std::size_t at, bool flow = false) {
    events_.push_back({kind, flow, at, {}});
  }

  char peek() const { return at_ < line_end_ ? text_[at_] : '\0'; }
  // True when there were any.
  bool skip_blanks() {
    const std::size_t before = at_;
    while (at_ < line_end_ && text_[at_] == ' ') ++at_;
    return at_ != before;
  }

  // Goes to the content of the next line that has any; at the end of the text `indent_` is -1.
  bool next_line() {
    at_ = line_end_;
    for (;;) {
      if (at_ < text_.size() && text_[at_] == '\n') ++at_;
      const std::size_t begin = at_;
      if (begin == text_.size()) {
        line_end_ = begin;
        indent_ = -1;
        return true;
      }
      line_end_ = std::min(text_.find('\n', begin), text_.size());
      if (line_end_ - begin > kMostLine) return false;
      while (at_ < line_end_ && text_[at_] == ' ') ++at_;
      if (at_ == line_end_) continue;
      if (text_[at_] == '#') {
        if (has_return()) return false;
        at_ = line_end_;
        continue;
      }
      indent_ = static_cast<std::ptrdiff_t>(at_ - begin);
      line_begin_ = begin;
      return true;
    }
  }

  // A comment may hold any character, but a carriage return is a part of a line break.
  bool has_return() const {
    return text_.substr(at_, line_end_ - at_).find('\r') != std::string_view::npos;
  }

  // Nothing but a comment may stand on the rest of the line.
  bool end_line() {
    const bool blanks = skip_blanks();
    if (at_ < line_end_ && (!blanks || text_[at_] != '#' || has_return())) return false;
    return next_line();
  }

  std::ptrdiff_t column() const { return static_cast<std::ptrdiff_t>(at_ - line_begin_); }

  // `- ` with something behind it on the line.
  bool at_item() const { return at_ + 2 < line_end_ && text_[at_] == '-' && text_[at_ + 1] == ' '; }

  // A map whose first key stands here, in this column.
  bool map(std::ptrdiff_t indent, std::size_t depth) {
    if (depth > kMostDepth) return false;
    add(Event::Kind::map, at_);
    do {
      if (!key() || !entry_value(indent, depth)) return false;
      // What is deeper would belong to the value.
      if (indent_ > indent) return false;
    } while (indent_ == indent && !at_item());
    add(Event::Kind::map_end, at_);
    return true;
  }

  bool key() {
    const std::size_t begin = at_;
    if (!is(peek(), kStart)) return false;
    while (is(peek(), kKey)) ++at_;
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (peek() != ':' || is_null_word(text)) return false;
    ++at_;
    events_.push_back({Event::Kind::plain, false, begin, text});
    return true;
  }

  bool entry_value(std::ptrdiff_t indent, std::size_t depth) {
    const bool blanks = skip_blanks();
    if (at_ < line_end_ && text_[at_] != '#') return blanks && value(depth) && end_line();
    if (at_ < line_end_ && (!blanks || has_return())) return false;
    if (!next_line() || indent_ < indent) return false;
    if (at_item()) return list(indent_, depth + 1);  // also in the column of the key
    return indent_ > indent && map(indent_, depth + 1);
  }

  bool list(std::ptrdiff_t indent, std::size_t depth) {
    if (depth > kMostDepth) return false;
    add(Event::Kind::list, at_);
    while (indent_ == indent && at_item()) {
      ++at_;
      skip_blanks();
      if (!item(depth)) return false;
      if (indent_ > indent) return false;
    }
    add(Event::Kind::list_end, at_);
    return true;
  }

  // A map that begins on the line of its `-`, or a value.
  bool item(std::size_t depth) {
    if (at_ == line_end_ || text_[at_] == '#') return false;
    std::size_t behind = at_;
    while (behind < line_end_ && is(text_[behind], kKey)) ++behind;
    const bool is_key = behind < line_end_ && text_[behind] == ':' &&
                        (behind + 1 == line_end_ || text_[behind + 1] == ' ');
    return is_key ? map(column(), depth + 1) : value(depth) && end_line();
  }

  bool value(std::size_t depth) {
    const char c = peek();
    if (c == '{' || c == '[') return flow(depth + 1);
    if (c == '"' || c == '\'') return quoted();
    return is(c, kStart) && block_scalar();
  }

  // One line, to its end or to a comment.
  bool block_scalar() {
    const std::size_t begin = at_;
    std::size_t last = at_;  // that is no blank
    for (; at_ < line_end_ && is(text_[at_], kText); ++at_) {
      const char c = text_[at_];
      const bool blank_before = text_[at_ - 1] == ' ';
      if (c == '#' && blank_before) break;
      if (c == ':' && (at_ + 1 == line_end_ || text_[at_ + 1] == ' ')) return false;
      if (c != ' ') last = at_;
    }
    if (at_ < line_end_ && text_[at_] != '#') return false;
    at_ = last + 1;
    plain(begin);
    return true;
  }

  void plain(std::size_t begin) {
    const std::string_view text = text_.substr(begin, at_ - begin);
    events_.push_back(
        {is_null_word(text) ? Event::Kind::null : Event::Kind::plain, false, begin, text});
  }

  // Without escapes, and without quotes of its own kind.
  bool quoted() {
    const std::size_t begin = at_;
    const char quote = text_[at_++];
    while (at_ < line_end_ && is(text_[at_], kText) && text_[at_] != quote && text_[at_] != '\\') {
      ++at_;
    }
    if (at_ == line_end_ || text_[at_] != quote) return false;
    events_.push_back(
        {Event::Kind::quoted, false, begin, text_.substr(begin + 1, at_ - begin - 1)});
    ++at_;
    return true;
  }

  bool flow(std::size_t depth) {
    if (depth > kMostDepth) return false;
    const bool is_map = text_[at_] == '{';
    const char close = is_map ? '}' : ']';
    add(is_map ? Event::Kind::map : Event::Kind::list, at_++, true);
    skip_blanks();
    while (peek() != close) {
      if (is_map) {
        if (!key() || !skip_blanks()) return false;
      }
      if (!flow_value(depth)) return false;
      skip_blanks();
      if (peek() == close) break;
      if (peek() != ',') return false;
      ++at_;
      skip_blanks();
      if (peek() == close) return false;
    }
    add(is_map ? Event::Kind::map_end : Event::Kind::list_end, at_++);
    return true;
  }

  bool flow_value(std::size_t depth) {
    const char c = peek();
    if (c == '{' || c == '[') return flow(depth + 1);
    if (c == '"' || c == '\'') return quoted();
    if (!is(c, kStart)) return false;
    const std::size_t begin = at_;
    while (is(peek(), kKey) ||
           (peek() == ':' && at_ + 1 < line_end_ && is(text_[at_ + 1], kStart))) {
      ++at_;
    }
    plain(begin);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t line_end_ = 0;
  std::ptrdiff_t indent_ = -1;
  std::vector<Event> events_;
};

}  // namespace

bool plain_events(std::string_view text, YAML::EventHandler& handler) {
  PlainReader reader(text);
  if (!reader.read()) return false;
  reader.replay(handler);
  return true;
}

}  // namespace gpuctl::yaml
