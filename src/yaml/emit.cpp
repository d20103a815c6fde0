#include "yaml/emit.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/text.hpp"
#include "diag/character.hpp"
#include "yaml/scalar.hpp"

namespace gpuctl::yaml {

namespace {

// What a byte means for the choice of style.
enum ByteClass : std::uint8_t {
  kOrdinary = 0,
  kDelicate = 1,  // may be trouble in a plain scalar: colon, hash, non-ASCII
  kBreak = 2,     // line feed
  kEscape = 4,    // needs an escape
  kTab = 8,
};

constexpr std::array<std::uint8_t, 256> kByteClass = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t i = 0; i < 0x20; ++i) table[i] = kEscape;
  table['\t'] = kTab;
  table['\n'] = kBreak;
  table[0x7F] = kEscape;
  table[':'] = kDelicate;
  table['#'] = kDelicate;
  for (std::size_t i = 0x80; i < 0x100; ++i) table[i] = kDelicate;
  return table;
}();

std::uint8_t byte_classes(std::string_view text) {
  std::uint8_t seen = 0;
  for (const char c : text) seen |= kByteClass[static_cast<unsigned char>(c)];
  return seen;
}

// What a reader of the file would not see, no-break spaces included: written as an escape.
bool is_invisible(char32_t c) {
  return diag::is_unprintable(c) || diag::is_hidden(c) || c == 0x00A0;
}

bool has_invisible(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    if (is_invisible(diag::next_code_point(text, i))) return true;
  }
  return false;
}

// True when `text` of ordinary and delicate bytes reads back as this string, unquoted, in block
// context, with every YAML 1.1 and 1.2 reader.
bool safe_plain(std::string_view text, std::uint8_t classes) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  switch (text.front()) {
    case ',':
    case '[':
    case ']':
    case '{':
    case '}':
    case '#':
    case '&':
    case '*':
    case '!':
    case '|':
    case '>':
    case '\'':
    case '"':
    case '%':
    case '@':
    case '`':
    case '?':
    case ':':
      return false;
    case '-':
      if (text.size() == 1 || text[1] == ' ' || text.starts_with("---")) return false;
      break;
    case '.':
      if (text.starts_with("...")) return false;
      break;
    case '<':
      if (text.starts_with("<<<<<<<")) return false;  // at the start of a line: a merge conflict
      break;
    default:
      break;
  }
  if ((classes & kDelicate) != 0) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ':' && text[i + 1] == ' ') return false;  // the last byte is no colon
      if (text[i] == '#' && text[i - 1] == ' ') return false;  // nor the first a hash
    }
    if (has_invisible(text)) return false;
  }
  return classify_plain(text) == Plain::string;
}

// True when `text`, which holds a line feed, reads back from a literal block without an
// indentation indicator: no escapes, some content, no blank at the start of the first line with
// content, no line of blanks alone.
bool safe_literal(std::string_view text, std::uint8_t classes) {
  if ((classes & kEscape) != 0) return false;
  const std::size_t content = text.find_first_not_of('\n');
  if (content == std::string_view::npos || text[content] == ' ' || text[content] == '\t') {
    return false;
  }
  bool blank = false;  // the line so far holds blanks alone, and at least one
  bool start = true;
  for (const char c : text) {
    if (c == '\n') {
      if (blank) return false;
      start = true;
    } else if (c == ' ' || c == '\t') {
      if (start) blank = true;
      start = false;
    } else {
      blank = false;
      start = false;
    }
  }
  if (blank) return false;
  return (classes & kDelicate) == 0 || !has_invisible(text);
}

void append_hex(std::string& out, char32_t c, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
    out += kDigits[(c >> static_cast<unsigned>(shift)) & 0xFU];
  }
}

// A double-quoted string that is JSON as well, except for \U of characters over U+FFFF.
void append_quoted(std::string& out, std::string_view text, bool show_invisible) {
  out += '"';
  std::size_t run = 0;  // start of the bytes not yet copied
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\') {
      ++i;
      continue;
    }
    const std::size_t at = i;
    const char32_t c = diag::next_code_point(text, i);
    if (c >= 0x80 && !(show_invisible && is_invisible(c))) {
      continue;
    }
    out.append(text, run, at - run);
    run = i;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        out += c > 0xFFFF ? "\\U" : "\\u";
        append_hex(out, c, c > 0xFFFF ? 8 : 4);
        break;
    }
  }
  out.append(text, run);
  out += '"';
}

// Readers look no further for the `:` behind a key (yaml.org/spec/1.2.2, 7.4.2: characters, here
// bytes); a longer one is written behind `? `.
constexpr std::size_t kLongestSimpleKey = 1024;

void append_integer(std::string& out, std::int64_t value) {
  std::array<char, 24> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), end);
}

class TextWriter {
 public:
  explicit TextWriter(std::string& out) : out_(out) {}

  // Writes the value behind "key:" or "-" (nothing after it yet) and ends the line. `indent` is the
  // column of the parent.
  void value_of_key(const Node& value, std::size_t indent) {
    if (value.is_map() && value.size() != 0) {
      out_ += '\n';
      map(value, indent + 2, false);
    } else if (value.is_list() && value.size() != 0) {
      out_ += '\n';
      list(value, indent, false);
    } else {
      out_ += ' ';
      scalar(value, indent);
    }
  }

  // `inside`: the first line is already indented, as behind "- ".
  void map(const Node& node, std::size_t indent, bool inside) {
    for (const Entry& entry : node.entries()) {
      if (!inside) out_.append(indent, ' ');
      inside = false;
      const std::size_t begin = out_.size();
      key(entry.key);
      if (out_.size() - begin > kLongestSimpleKey) {
        out_.insert(begin, "? ");
        out_ += '\n';
        out_.append(indent, ' ');
      }
      out_ += ':';
      value_of_key(entry.value, indent);
    }
  }

  void list(const Node& node, std::size_t indent, bool inside) {
    for (const Node& item : node.items()) {
      if (!inside) out_.append(indent, ' ');
      inside = false;
      out_ += "- ";
      if (item.is_map() && item.size() != 0) {
        map(item, indent + 2, true);
      } else if (item.is_list() && item.size() != 0) {
        list(item, indent + 2, true);
      } else {
        scalar(item, indent);
      }
    }
  }

  // A scalar or an empty collection, with the line break behind it.
  void scalar(const Node& node, std::size_t indent) {
    switch (node.kind()) {
      case Kind::null:
        out_ += "null\n";
        return;
      case Kind::boolean:
        out_ += node.as_boolean() ? "true\n" : "false\n";
        return;
      case Kind::integer:
        append_integer(out_, node.as_integer());
        out_ += '\n';
        return;
      case Kind::real:
        out_ += base::format_real(node.as_real());
        out_ += '\n';
        return;
      case Kind::list:
        out_ += "[]\n";
        return;
      case Kind::map:
        out_ += "{}\n";
        return;
      case Kind::string:
        string(node.as_string(), indent);
        return;
    }
  }

 private:
  void string(std::string_view text, std::size_t indent) {
    const std::uint8_t classes = byte_classes(text);
    if ((classes & kBreak) != 0 && safe_literal(text, classes)) {
      literal(text, indent + 2);
      return;
    }
    inline_string(text, classes);
    out_ += '\n';
  }

  void inline_string(std::string_view text, std::uint8_t classes) {
    if (classes <= kDelicate && safe_plain(text, classes)) {
      out_ += text;
    } else {
      append_quoted(out_, text, true);
    }
  }

  void literal(std::string_view text, std::size_t indent) {
    out_ += '|';
    if (!text.ends_with('\n')) {
      out_ += '-';
    } else if (text.ends_with("\n\n")) {
      out_ += '+';
    }
    out_ += '\n';
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      if (!line.empty()) {
        out_.append(indent, ' ');
        out_ += line;
      }
      out_ += '\n';
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
  }

  void key(const Node& node) {
    std::string text;
    switch (node.kind()) {
      case Kind::string:
        inline_string(node.as_string(), byte_classes(node.as_string()));
        return;
      case Kind::boolean:
        text = node.as_boolean() ? "true" : "false";
        break;
      case Kind::integer:
        append_integer(text, node.as_integer());
        break;
      case Kind::real:
        text = base::format_real(node.as_real());
        break;
      default:
        text = emit_json(node);
        break;
    }
    append_quoted(out_, text, true);
  }

  std::string& out_;
};

void append_json(std::string& out, const Node& node) {
  switch (node.kind()) {
    case Kind::null:
      out += "null";
      return;
    case Kind::boolean:
      out += node.as_boolean() ? "true" : "false";
      return;
    case Kind::integer:
      append_integer(out, node.as_integer());
      return;
    case Kind::real:
      out += std::isfinite(node.as_real()) ? base::format_real(node.as_real()) : "null";
      return;
    case Kind::string:
      append_quoted(out, node.as_string(), false);
      return;
    case Kind::list: {
      out += '[';
      bool first = true;
      for (const Node& item : node.items()) {
        if (!first) out += ',';
        first = false;
        append_json(out, item);
      }
      out += ']';
      return;
    }
    case Kind::map: {
      out += '{';
      bool first = true;
      for (const Entry& entry : node.entries()) {
        if (!first) out += ',';
        first = false;
        if (entry.key.is_string()) {
          append_json(out, entry.key);
        } else {
          append_quoted(out, emit_json(entry.key), false);
        }
        out += ':';
        append_json(out, entry.value);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

void emit(const Node& node, std::string& out) {
  TextWriter writer(out);
  if (node.is_map() && node.size() != 0) {
    writer.map(node, 0, false);
  } else if (node.is_list() && node.size() != 0) {
    writer.list(node, 0, false);
  } else {
    writer.scalar(node, 0);
  }
}

std::string emit(const Node& node) {
  std::string out;
  emit(node, out);
  return out;
}

std::string emit_json(const Node& node) {
  std::string out;
  append_json(out, node);
  return out;
}

}  // namespace gpuctl::yaml
