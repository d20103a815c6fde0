#include "diag/print.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "diag/character.hpp"
#include "diag/excerpt.hpp"
#include "diag/finding.hpp"
#include "diag/shorten.hpp"

namespace gpuctl::diag {

namespace {

constexpr std::size_t kMostColumns = 160;  // of a source line

constexpr std::string_view kReset = "\033[0m";
constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kRed = "\033[1;31m";
constexpr std::string_view kYellow = "\033[1;33m";
constexpr std::string_view kCyan = "\033[1;36m";
constexpr std::string_view kBlue = "\033[1;34m";
constexpr std::string_view kLink = "\033]8;;";  // an address follows; none ends the link
constexpr std::string_view kLinkEnd = "\033\\";

std::string_view severity_colour(Severity severity) {
  switch (severity) {
    case Severity::error:
      return kRed;
    case Severity::warning:
      return kYellow;
    case Severity::note:
      return kCyan;
  }
  return kBold;
}

// A label with its place worked out.
struct Mark {
  FileId file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string line_text;  // secrets masked
  std::size_t begin = 0;  // byte range in the line
  std::size_t end = 0;
  std::string_view text;
  bool primary = false;
};

std::vector<Mark> place_marks(const Diagnostic& diagnostic, const Sources& sources) {
  std::vector<Mark> marks;
  const auto add = [&](const Label& label, bool primary) {
    const Span* span = sources.span(label.at);
    if (span == nullptr) return;
    const std::string_view text = sources.file_text(span->file);
    const std::size_t start = text.size() - without_byte_order_mark(text).size();
    const std::size_t begin = std::clamp<std::size_t>(span->begin, start, text.size());
    const std::size_t before = begin == 0 ? std::string_view::npos : text.rfind('\n', begin - 1);
    const std::size_t line_begin = before == std::string_view::npos ? start : before + 1;
    std::string_view line = text.substr(line_begin, text.find('\n', begin) - line_begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const Position position = sources.position(span->file, static_cast<std::uint32_t>(begin));
    Mark mark{.file = span->file,
              .line = position.line,
              .column = position.column,
              .line_text = sources.shown(sources.without_hidden(span->file, line_begin, line)),
              .begin = std::min(begin - line_begin, line.size()),
              .end = std::min<std::size_t>(std::max<std::size_t>(span->end, begin) - line_begin,
                                           line.size()),
              .text = label.text,
              .primary = primary};
    marks.push_back(std::move(mark));
  };
  add(diagnostic.primary, true);
  for (const Label& label : diagnostic.secondary) add(label, false);
  return marks;
}

constexpr std::size_t kListColumns = 100;

// A long list of names ("one of `a`, `b`"), broken behind commas so that it fits the lines.
std::string wrapped_list(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t comma = text.find(", ", begin);
    const std::size_t end = comma == std::string_view::npos ? text.size() : comma + 2;
    const std::string_view part = text.substr(begin, end - begin);
    if (begin != 0 && column + part.size() > kListColumns) {
      out.back() = '\n';
      column = indent;
    }
    out += part;
    column += part.size();
    begin = end;
  }
  return out;
}

class TextPrinter {
 public:
  TextPrinter(bool colour, const PageAddress& pages, std::string& out)
      : colour_(colour), pages_(pages), out_(out) {}

  void print(const Diagnostic& diagnostic, const Sources& sources) {
    severity_ = diagnostic.severity;
    marks_ = place_marks(diagnostic, sources);
    std::uint32_t last_line = 1;
    for (const Mark& mark : marks_) last_line = std::max(last_line, mark.line);
    gutter_ = std::to_string(last_line).size();
    paint(severity_colour(severity_),
          std::string(severity_name(severity_)) + "[" + linked(diagnostic.code) + "]");
    std::string message = ": ";
    append_visible(message, shorten(diagnostic.message));
    paint(kBold, message);
    out_ += '\n';
    print_files(sources);
    if (marks_.empty() || !marks_.front().primary) {
      if (!diagnostic.primary.text.empty()) fact("note", diagnostic.primary.text);
    }
    if (!diagnostic.expected.empty()) {
      const bool names = diagnostic.expected.starts_with("one of `");
      fact("expected", names ? wrapped_list(diagnostic.expected, fact_indent("expected"))
                             : diagnostic.expected);
    }
    if (!diagnostic.found.empty()) fact("found", shorten(diagnostic.found, kMostFoundBytes));
    for (const std::string& note : diagnostic.notes) fact("note", note);
    for (const std::string& help : diagnostic.help) {
      paint(kCyan, "help");
      out_ += ": ";
      lines(help, std::string_view("help: ").size());
    }
  }

 private:
  // The code as a link to its page.
  std::string linked(const std::string& code) const {
    const std::string address = pages_ ? pages_(code) : std::string();
    if (address.empty()) return code;
    return std::string(kLink) + address + std::string(kLinkEnd) + code + std::string(kLink) +
           std::string(kLinkEnd);
  }

  void paint(std::string_view colour, std::string_view text) {
    if (!colour_) {
      out_ += text;
      return;
    }
    out_ += colour;
    out_ += text;
    out_ += kReset;
  }

  // A text of several lines, those after the first indented.
  void lines(std::string_view text, std::size_t indent) {
    std::string visible;
    append_visible(visible, shorten(text));
    std::string_view rest = visible;
    while (rest.ends_with('\n')) rest.remove_suffix(1);
    for (;;) {
      const std::size_t end = rest.find('\n');
      out_ += rest.substr(0, end);
      out_ += '\n';
      if (end == std::string_view::npos) return;
      rest.remove_prefix(end + 1);
      if (!rest.starts_with('\n')) out_.append(indent, ' ');
    }
  }

  void fact(std::string_view name, std::string_view text) {
    out_.append(gutter_ + 1, ' ');
    paint(kBlue, "=");
    out_ += ' ';
    paint(kBold, name);
    out_ += ": ";
    lines(text, fact_indent(name));
  }

  std::size_t fact_indent(std::string_view name) const { return gutter_ + 1 + 2 + name.size() + 2; }

  void bar() {
    out_.append(gutter_ + 1, ' ');
    paint(kBlue, "|");
  }

  // The file of the primary mark comes first, the others in the order they are mentioned.
  void print_files(const Sources& sources) {
    std::vector<FileId> files;
    for (const Mark& mark : marks_) {
      if (std::find(files.begin(), files.end(), mark.file) == files.end()) {
        files.push_back(mark.file);
      }
    }
    for (const FileId file : files) {
      std::vector<const Mark*> marks;
      for (const Mark& mark : marks_) {
        if (mark.file == file) marks.push_back(&mark);
      }
      const Mark& first = *marks.front();
      const bool first_file = file == files.front();
      if (!first_file) {
        bar();
        out_ += '\n';
      }
      out_.append(gutter_, ' ');
      paint(kBlue, first_file ? "-->" : ":::");
      out_ += ' ';
      append_visible(out_, sources.file_name(file));
      out_ += ":" + std::to_string(first.line) + ":" + std::to_string(first.column) + "\n";
      bar();
      out_ += '\n';
      std::stable_sort(marks.begin(), marks.end(),
                       [](const Mark* a, const Mark* b) { return a->line < b->line; });
      print_lines(sources, marks);
    }
  }

  void print_lines(const Sources& sources, const std::vector<const Mark*>& marks) {
    std::uint32_t shown = 0;
    Excerpt excerpt;
    for (const Mark* mark : marks) {
      if (mark->line != shown) {
        if (shown != 0 && mark->line == shown + 2) {
          const std::string_view between = sources.line_text(mark->file, shown + 1);
          const auto offset =
              static_cast<std::size_t>(between.data() - sources.file_text(mark->file).data());
          source_line(shown + 1,
                      cut_line(sources.shown(sources.without_hidden(mark->file, offset, between)),
                               0, kMostColumns));
        } else if (shown != 0 && mark->line > shown + 2) {
          paint(kBlue, "...");
          out_ += '\n';
        }
        excerpt = cut_line(mark->line_text, mark->begin, kMostColumns);
        source_line(mark->line, excerpt);
        shown = mark->line;
      }
      underline(*mark, excerpt);
    }
  }

  void source_line(std::uint32_t line, const Excerpt& excerpt) {
    std::string number = std::to_string(line);
    number.append(gutter_ - number.size() + 1, ' ');
    paint(kBlue, number + "|");
    if (!excerpt.shown.empty()) out_ += ' ';
    out_ += excerpt.shown;
    out_ += '\n';
  }

  void underline(const Mark& mark, const Excerpt& excerpt) {
    const std::size_t begin = column_of(excerpt, mark.line_text, mark.begin);
    const std::size_t end = column_of(excerpt, mark.line_text, mark.end);
    bar();
    out_.append(begin + 1, ' ');
    std::string text(std::max<std::size_t>(end - begin, 1), mark.primary ? '^' : '-');
    if (!mark.text.empty()) {
      text += ' ';
      append_visible(text, shorten(mark.text));
      std::replace(text.begin(), text.end(), '\n', ' ');
    }
    paint(mark.primary ? severity_colour(severity_) : kBlue, text);
    out_ += '\n';
  }

  bool colour_;
  const PageAddress& pages_;
  std::string& out_;
  Severity severity_ = Severity::error;
  std::vector<Mark> marks_;
  std::size_t gutter_ = 1;
};

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "error";
}

void print_text(const Diagnostic& diagnostic, const Sources& sources, bool colour, std::string& out,
                const PageAddress& pages) {
  TextPrinter(colour, pages, out).print(without_secrets(diagnostic, sources), sources);
}

void print_json(const Diagnostic& found, const Sources& sources, std::string& out) {
  using Json = nlohmann::ordered_json;
  const Diagnostic diagnostic = without_secrets(found, sources);
  const auto all = [](const std::vector<std::string>& texts) {
    std::vector<std::string> short_texts;
    short_texts.reserve(texts.size());
    for (const std::string& text : texts) short_texts.push_back(shorten(text));
    return short_texts;
  };
  Json spans = Json::array();
  const auto add = [&](const Label& label, bool primary) {
    const std::optional<Place> place = place_of(label, sources);
    if (!place) return;
    Json entry;
    entry["file"] = place->file;
    entry["line"] = place->begin.line;
    entry["column"] = place->begin.column;
    entry["endLine"] = place->end.line;
    entry["endColumn"] = place->end.column;
    entry["label"] = place->text;
    entry["primary"] = primary;
    spans.push_back(std::move(entry));
  };
  add(diagnostic.primary, true);
  for (const Label& label : diagnostic.secondary) add(label, false);
  Json object;
  object["code"] = diagnostic.code;
  object["severity"] = severity_name(diagnostic.severity);
  object["message"] = shorten(diagnostic.message);
  object["path"] = shorten(diagnostic.path);
  object["spans"] = std::move(spans);
  object["expected"] = shorten(diagnostic.expected);
  object["found"] = shorten(diagnostic.found, kMostFoundBytes);
  object["notes"] = all(diagnostic.notes);
  object["help"] = all(diagnostic.help);
  object["docs"] = "gpuctl explain " + diagnostic.code;
  // File names and texts come from outside: bad bytes are replaced, not thrown at.
  out += object.dump(-1, ' ', false, Json::error_handler_t::replace);
  out += '\n';
}

}  // namespace gpuctl::diag
