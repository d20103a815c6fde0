#include "yaml/syntax_error.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "yaml/codes.hpp"
#include "yaml/scan.hpp"

namespace gpuctl::yaml {

namespace {

struct Wording {
  std::string_view parser;   // how the parser's message starts
  std::string_view message;  // ours
  std::string_view help;     // may be empty
};

// Messages of yaml-cpp 0.7 (exceptions.h).
constexpr std::array kWordings = {
    Wording{"illegal map value", "a second `: ` on this line, or a value where none may stand",
            "quote a text that contains `: `, or check the indentation"},
    Wording{"illegal map key", "a key may not stand here", "check the indentation"},
    Wording{"illegal block entry", "a list item `- ` may not stand here",
            "put the list on lines of its own below the key"},
    Wording{"end of map not found", "this line belongs to no mapping above it",
            "check the indentation: all keys of a mapping start in the same column"},
    Wording{"end of map flow not found", "`{` is not closed, or an entry in it ends wrongly",
            "close it with `}`, and quote texts in it that contain `{}[],`"},
    Wording{"end of sequence not found", "this line belongs to no list above it",
            "check the indentation: all `- ` of a list start in the same column"},
    Wording{"end of sequence flow not found", "`[` is not closed, or an item in it ends wrongly",
            "close it with `]`, and quote texts in it that contain `{}[],`"},
    Wording{"illegal flow end", "a closing bracket without its opening one", ""},
    Wording{"illegal tab", "a tab in the indentation", "indent with spaces"},
    Wording{"unknown token", "a character that may not start a value",
            "quote a text that starts with `@`, a backquote or `%`"},
    Wording{"illegal EOF in scalar", "the file ends inside a quoted text", "close the quote"},
    Wording{"illegal document indicator in scalar", "`---` or `...` inside a quoted text",
            "close the quote before it"},
    Wording{"unknown escape character", "an unknown escape in a double-quoted text",
            "write `\\\\` for a backslash, or use single quotes"},
    Wording{"bad character found while scanning hex number", "an escape with too few hex digits",
            "`\\x` takes 2, `\\u` 4 and `\\U` 8 hexadecimal digits"},
    Wording{"invalid unicode", "an escape that is no character",
            "write characters over U+FFFF as such, or as `\\U` with 8 digits"},
    Wording{"the referenced anchor is not defined", "an alias to an anchor that does not exist",
            "quote a text that starts with `*`"},
    Wording{"alias not found after *", "`*` without the name of an anchor",
            "quote a text that starts with `*`"},
    Wording{"anchor not found after &", "`&` without a name", "quote a text that starts with `&`"},
    Wording{"illegal character found while scanning alias", "an alias with a bad name",
            "quote a text that starts with `*`"},
    Wording{"illegal character found while scanning anchor", "an anchor with a bad name",
            "quote a text that starts with `&`"},
    Wording{"aliases can't have any content", "an alias with a value behind it", ""},
    Wording{"cannot assign multiple tags", "two tags on one value", ""},
    Wording{"cannot assign multiple anchors", "two anchors on one value", ""},
    Wording{"cannot set zero indentation", "a block text with indentation 0", ""},
    Wording{"unexpected character in block scalar", "text behind `|` or `>`",
            "start the text on the next line"},
    Wording{"bad YAML version", "a `%YAML` line with a bad version", "remove the line"},
    Wording{"YAML major version too large", "a `%YAML` line with an unknown version",
            "remove the line"},
    Wording{"repeated YAML directive", "two `%YAML` lines", "remove one of them"},
};

std::string_view line_at(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

// The parser often notices on the next line, so the last line with content counts too.
bool near_expression(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  if (line_at(text, at).find("${") != std::string_view::npos) return true;
  const std::string_view line = line_at(text, at);
  const std::size_t begin = static_cast<std::size_t>(line.data() - text.data());
  if (text.substr(begin, at - begin).find_first_not_of(" \t\r") != std::string_view::npos) {
    return false;
  }
  const std::size_t content = text.substr(0, begin).find_last_not_of(" \t\r\n");
  return content != std::string_view::npos &&
         line_at(text, content).find("${") != std::string_view::npos;
}

// The part of the line before `at`.
std::string_view line_before(std::string_view text, std::size_t at) {
  const std::string_view line = line_at(text, at);
  return line.substr(
      0, std::min(at, text.size()) - static_cast<std::size_t>(line.data() - text.data()));
}

// Offset of a quote behind `at` that is opened and never closed, or npos.
std::size_t find_open_quote(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    at = skip_separation(text, at);
    if (at >= text.size()) break;
    const char quote = text[at];
    if (quote != '"' && quote != '\'') {
      // Inside a word a quote is a character like any other.
      at = std::min(text.find_first_of(" \t\r\n[]{},", at + 1), text.size());
      while (at < text.size() && std::string_view("[]{},").find(text[at]) != std::string::npos)
        ++at;
      continue;
    }
    const std::size_t opened = at++;
    for (bool open = true; open; ++at) {
      if (at >= text.size()) return opened;
      if (quote == '"' && text[at] == '\\') {
        ++at;
      } else if (text[at] == quote) {
        open = text.substr(at + 1).starts_with(quote) && quote == '\'';
        if (open) ++at;
      }
    }
  }
  return std::string_view::npos;
}

constexpr Wording kBareExpression = {"", "an expression without quotes inside `[...]` or `{...}`",
                                     ""};
constexpr Wording kTabIndent = {"", "a tab in the indentation", "indent with spaces"};

// What the parser's message alone does not tell; nullptr when it says enough.
const Wording* better_wording(std::string_view message, std::string_view before) {
  static constexpr Wording kBehind = {"", "text behind a complete value",
                                      "put the whole text in quotes, or start a new line"};
  const std::size_t content = before.find_first_not_of(" \t");
  if (before.substr(0, content).find('\t') != std::string_view::npos) return &kTabIndent;
  const bool block_end =
      message == "end of map not found" || message == "end of sequence not found";
  return block_end && before.find_first_not_of(" -") != std::string_view::npos ? &kBehind : nullptr;
}

const Wording* find_wording(std::string_view message) {
  const auto* found = std::find_if(kWordings.begin(), kWordings.end(), [&](const Wording& wording) {
    return message.starts_with(wording.parser);
  });
  return found == kWordings.end() ? nullptr : found;
}

constexpr std::string_view kOurs = "<<<<<<<";
constexpr std::string_view kMiddle = "=======";
constexpr std::string_view kTheirs = ">>>>>>>";

// Offset of the first line at or behind `at` that starts with `marker`, or npos.
std::size_t find_marker(std::string_view text, std::string_view marker, std::size_t at) {
  while ((at = text.find(marker, at)) != std::string_view::npos) {
    if ((at == 0 || text[at - 1] == '\n') && is_conflict_marker(line_at(text, at))) return at;
    at += marker.size();
  }
  return at;
}

// Offset of a marker on the line of `at` or on the last line with content in front of it, or npos:
// what is left of a conflict that was resolved in part.
std::size_t marker_near(std::string_view text, std::size_t at) {
  for (int lines = 0; lines < 2; ++lines) {
    const std::string_view line = line_at(text, at);
    const auto begin = static_cast<std::size_t>(line.data() - text.data());
    if (is_conflict_marker(line)) return begin;
    at = text.substr(0, begin).find_last_not_of(" \t\r\n");
    if (at == std::string_view::npos) break;
  }
  return std::string_view::npos;
}

constexpr std::string_view kQuoteExpression =
    "quote the expression: `\"${...}\"` is needed where it contains `: ` or ` #`, starts with a "
    "quote, or stands inside `[...]` or `{...}`";

}  // namespace

bool is_conflict_marker(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with(kMiddle)) return line.size() == kMiddle.size();
  return (line.starts_with(kOurs) || line.starts_with(kTheirs)) &&
         (line.size() == kOurs.size() || line[kOurs.size()] == ' ');
}

void report_conflict_marker(diag::FileId file, std::size_t at, diag::Sources& sources,
                            diag::Sink& sink) {
  sink.error(kSyntax,
             sources.add_span(file, static_cast<std::uint32_t>(at),
                              static_cast<std::uint32_t>(at + kOurs.size())),
             "a merge conflict is not resolved")
      .label("left by a version control system")
      .suggest(
          "keep one of the two sides, and remove the lines that start with `<<<<<<<`, "
          "`=======` and `>>>>>>>`");
}

void report_broken_quote(diag::FileId file, std::size_t quote, const diag::Label& witness,
                         diag::Sources& sources, diag::Sink& sink) {
  sink.error(kUnterminated,
             sources.add_span(file, static_cast<std::uint32_t>(quote),
                              static_cast<std::uint32_t>(quote + 1)),
             "this quote is not closed where it should be")
      .label("opened here")
      .also(witness.at, witness.text)
      .suggest("close the quote on its own line, or escape the quote that ends the text too early");
}

bool report_merge_conflict(diag::FileId file, diag::Sources& sources, diag::Sink& sink) {
  const std::string_view text = sources.file_text(file);
  const std::size_t ours = find_marker(text, kOurs, 0);
  const std::size_t middle = find_marker(text, kMiddle, ours);
  if (find_marker(text, kTheirs, middle) == std::string_view::npos) return false;
  report_conflict_marker(file, ours, sources, sink);
  return true;
}

void report_syntax_error(std::string_view message, const SyntaxErrorPlace& place,
                         diag::Sources& sources, diag::Sink& sink) {
  const std::string_view text = sources.file_text(place.file);
  const auto span = [&](std::size_t begin, std::size_t end) {
    return sources.add_span(place.file, static_cast<std::uint32_t>(begin),
                            static_cast<std::uint32_t>(end));
  };
  if (const std::size_t marker = marker_near(text, std::min(place.at, text.size()));
      marker != std::string_view::npos) {
    report_conflict_marker(place.file, marker, sources, sink);
    return;
  }
  if (message.starts_with("illegal EOF in scalar")) {
    const std::size_t quote = find_open_quote(text, place.progress);
    if (quote != std::string_view::npos) {
      sink.error(kUnterminated, span(quote, quote + 1), "this quote is never closed")
          .label("opened here");
      return;
    }
  }
  std::size_t at = std::min(place.at, text.size());
  if (message.starts_with("illegal document indicator in scalar")) {
    const std::size_t quote = find_open_quote(text.substr(0, at), place.progress);
    if (quote != std::string_view::npos) {
      report_broken_quote(place.file, quote,
                          {span(at, std::min(at + 3, text.size())), "here the document ends"},
                          sources, sink);
      return;
    }
  }
  if (text.substr(at).find_first_not_of(" \t\r\n") == std::string_view::npos) {
    // At the end of the text: show the end of what there is.
    at = text.find_last_not_of(" \t\r\n") + 1;
  }
  if (place.broken_quote != std::string_view::npos && at >= place.progress &&
      text.substr(place.progress, at - place.progress).find('\n') == std::string_view::npos) {
    report_broken_quote(place.file, place.broken_quote,
                        {span(place.progress - 1, place.progress), "closed here, and text follows"},
                        sources, sink);
    return;
  }
  const bool at_character = at < text.size() && text[at] != '\n' && text[at] != '\r';
  const Wording* wording = better_wording(message, line_before(text, at));
  if (wording == &kTabIndent) at = text.rfind('\t', at);
  if (wording == nullptr) wording = find_wording(message);
  if (place.open_collection != diag::kNoOrigin && at > 0 && text.substr(at - 1).starts_with("${")) {
    wording = &kBareExpression;
  }
  diag::Diagnostic& diagnostic =
      sink.error(kSyntax, span(at, at_character ? at + 1 : at),
                 wording != nullptr ? std::string(wording->message)
                                    : "not valid YAML: " + std::string(message));
  diagnostic.also(place.open_collection, "opened here");
  if (near_expression(text, at)) {
    diagnostic.suggest(std::string(kQuoteExpression));
  } else if (wording != nullptr && !wording->help.empty()) {
    diagnostic.suggest(std::string(wording->help));
  }
}

}  // namespace gpuctl::yaml
