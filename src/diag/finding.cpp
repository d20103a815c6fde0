#include "diag/finding.hpp"

#include <algorithm>

#include "diag/print.hpp"
#include "diag/shorten.hpp"

namespace gpuctl::diag {

Diagnostic without_secrets(const Diagnostic& diagnostic, const Sources& sources) {
  Diagnostic out = diagnostic;
  const auto clean = [&](std::string& text) {
    if (!text.empty()) text = sources.shown(text);
  };
  for (std::string* text :
       {&out.message, &out.path, &out.primary.text, &out.expected, &out.found}) {
    clean(*text);
  }
  for (Label& label : out.secondary) clean(label.text);
  for (std::string& note : out.notes) clean(note);
  for (std::string& help : out.help) clean(help);
  return out;
}

std::optional<Place> place_of(const Label& label, const Sources& sources) {
  const Span* span = sources.span(label.at);
  if (span == nullptr) return std::nullopt;
  return Place{.file = std::string(sources.file_name(span->file)),
               .begin = sources.position(span->file, span->begin),
               .end = sources.position(span->file, std::max(span->begin, span->end)),
               .text = shorten(label.text)};
}

Finding detach(const Diagnostic& found, const Sources& sources) {
  const Diagnostic diagnostic = without_secrets(found, sources);
  const auto users_place = [&](const Label& label) {
    return sources.is_built_in(label.at) ? std::nullopt : place_of(label, sources);
  };
  Finding out{.severity = diagnostic.severity,
              .code = diagnostic.code,
              .message = shorten(diagnostic.message),
              .path = shorten(diagnostic.path),
              .at = users_place(diagnostic.primary),
              .others = {},
              .sentences = {},
              .printed = {}};
  for (const Label& label : diagnostic.secondary) {
    if (auto place = users_place(label)) out.others.push_back(*std::move(place));
  }
  const auto say = [&](std::string_view before, const std::string& text, std::size_t most) {
    if (!text.empty()) out.sentences.push_back(std::string(before) + shorten(text, most));
  };
  say("", diagnostic.primary.text, kMostTextBytes);
  say("expected: ", diagnostic.expected, kMostTextBytes);
  say("found: ", diagnostic.found, kMostFoundBytes);
  for (const std::string& note : diagnostic.notes) say("note: ", note, kMostTextBytes);
  for (const std::string& help : diagnostic.help) say("help: ", help, kMostTextBytes);
  print_text(found, sources, false, out.printed);
  return out;
}

}  // namespace gpuctl::diag
