#include "diag/diagnostic.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"

namespace gpuctl::diag {

Diagnostic& Diagnostic::label(std::string text) {
  primary.text = std::move(text);
  return *this;
}
Diagnostic& Diagnostic::also(Origin at, std::string text) {
  if (at != kNoOrigin) secondary.push_back({at, std::move(text)});
  return *this;
}
Diagnostic& Diagnostic::expect(std::string text) {
  expected = std::move(text);
  return *this;
}
Diagnostic& Diagnostic::got(std::string text) {
  found = std::move(text);
  return *this;
}
Diagnostic& Diagnostic::note(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}
Diagnostic& Diagnostic::suggest(std::string text) {
  help.push_back(std::move(text));
  return *this;
}
namespace {

Diagnostic& suggest_one_of(Diagnostic& finding, const std::vector<std::string>& near) {
  if (near.empty()) return finding;
  std::string text = "did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i != 0) text += i + 1 == near.size() ? " or " : ", ";
    text += "`" + near[i] + "`";
  }
  return finding.suggest(text + "?");
}

}  // namespace

Diagnostic& Diagnostic::did_you_mean(std::string_view word,
                                     const std::vector<std::string>& candidates) {
  return suggest_one_of(*this, base::nearest(word, candidates));
}
Diagnostic& Diagnostic::did_you_mean_longer(std::string_view word,
                                            const std::vector<std::string>& candidates) {
  return suggest_one_of(*this, base::nearest_or_longer(word, candidates));
}

Diagnostic& Sink::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::error) ++errors_;
  diagnostics_.push_back(std::move(diagnostic));
  return diagnostics_.back();
}

namespace {
Diagnostic make(Severity severity, std::string_view code, Origin at, std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.primary.at = at;
  return diagnostic;
}
}  // namespace

Diagnostic& Sink::error(std::string_view code, Origin at, std::string message) {
  return add(make(Severity::error, code, at, std::move(message)));
}
Diagnostic& Sink::warning(std::string_view code, Origin at, std::string message) {
  return add(make(Severity::warning, code, at, std::move(message)));
}
Diagnostic& Sink::note(std::string_view code, Origin at, std::string message) {
  return add(make(Severity::note, code, at, std::move(message)));
}

bool Sink::has_warnings() const {
  return std::any_of(diagnostics_.begin(), diagnostics_.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::warning;
  });
}

void Sink::take(Sink&& other) {
  for (Diagnostic& diagnostic : other.diagnostics_) add(std::move(diagnostic));
  other = Sink();
}

namespace {

// What makes two findings the same thing to say.
auto said(const Diagnostic& d) {
  return std::tie(d.severity, d.code, d.message, d.primary.text, d.expected, d.found, d.notes,
                  d.help);
}

// Of findings that say the same in different places, the first gets the places of the others.
// Errors stay apart: each has to be mended, and programs read the path of each.
std::vector<Diagnostic> with_all_places(std::vector<Diagnostic> sorted, const Sources& sources) {
  std::vector<Diagnostic> out;
  std::map<decltype(said(sorted.front())), std::size_t> first_of;
  out.reserve(sorted.size());  // keys of the map refer to what is in it
  for (Diagnostic& finding : sorted) {
    const bool placed = sources.span(finding.primary.at) != nullptr;
    if (finding.severity == Severity::error || !placed || !finding.secondary.empty()) {
      out.push_back(std::move(finding));
      continue;
    }
    const auto known = first_of.find(said(finding));
    if (known == first_of.end()) {
      out.push_back(std::move(finding));
      first_of.emplace(said(out.back()), out.size() - 1);
      continue;
    }
    Diagnostic& first = out[known->second];
    if (*sources.span(finding.primary.at) == *sources.span(first.primary.at)) continue;
    first.also(finding.primary.at, "and here");
  }
  return out;
}

}  // namespace

std::vector<Diagnostic> Sink::sorted(const Sources& sources) const {
  std::vector<Diagnostic> out = diagnostics_;
  const auto key = [&](const Diagnostic& d) {
    const Span* span = sources.span(d.primary.at);
    const Span where = span == nullptr ? Span{~FileId{0}, 0, 0} : *span;
    return std::tuple(span == nullptr, where.file, where.begin, where.end, d.severity, d.code,
                      d.message);
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return with_all_places(std::move(out), sources);
}

}  // namespace gpuctl::diag
