// A diagnostic is data: what is wrong, where, what was expected, how to get out. Printing it is
// somebody else's work (diag/print.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/sources.hpp"

namespace gpuctl::diag {

enum class Severity : std::uint8_t { error, warning, note };

/// A place in a source and what is to be said about it there.
struct Label {
  Origin at = kNoOrigin;
  std::string text;
  friend bool operator==(const Label&, const Label&) = default;
};

/// One finding. `message` is one line, lower case, no full stop, identifiers in backticks, says
/// what is wrong and not how to mend it; `help` says how.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;  // "GPU" and four digits
  std::string message;
  /// Path in the document that the finding is about: `spec.gpuPools[0].replicas`; may be empty. It
  /// also leads to what is absent, which no place can.
  std::string path = {};
  Label primary;
  std::vector<Label> secondary;
  std::string expected;
  std::string found;
  std::vector<std::string> notes;
  std::vector<std::string> help;

  Diagnostic& label(std::string text);
  Diagnostic& also(Origin at, std::string text);
  Diagnostic& expect(std::string text);
  Diagnostic& got(std::string text);
  Diagnostic& note(std::string text);
  Diagnostic& suggest(std::string text);
  /// Adds "did you mean ..." when one of `candidates` is near `word`.
  Diagnostic& did_you_mean(std::string_view word, const std::vector<std::string>& candidates);
  /// The same, also for a word that is only the beginning of some (base::nearest_or_longer()).
  Diagnostic& did_you_mean_longer(std::string_view word,
                                  const std::vector<std::string>& candidates);

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// Collects diagnostics of a stage. Not safe for several threads: one sink a blueprint.
class Sink {
 public:
  /// The reference is valid until the next call on this sink.
  Diagnostic& add(Diagnostic diagnostic);
  Diagnostic& error(std::string_view code, Origin at, std::string message);
  Diagnostic& warning(std::string_view code, Origin at, std::string message);
  Diagnostic& note(std::string_view code, Origin at, std::string message);

  bool has_errors() const { return errors_ != 0; }
  bool has_warnings() const;
  std::size_t error_count() const { return errors_; }
  bool empty() const { return diagnostics_.empty(); }
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  /// Moves everything from `other` into this sink.
  void take(Sink&& other);
  /// All diagnostics by file (in the order they were opened), position, code and message, without
  /// duplicates; those without a position come last. Of warnings and notes that say the same, the
  /// first has the places of the others as further ones.
  std::vector<Diagnostic> sorted(const Sources& sources) const;

 private:
  std::vector<Diagnostic> diagnostics_;
  std::size_t errors_ = 0;
};

}  // namespace gpuctl::diag
