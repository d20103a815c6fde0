// Regular expressions of CEL: RE2, which takes time in proportion to the text whatever the pattern.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/once.hpp"

namespace re2 {
class RE2;
}

namespace gpuctl::cel {

/// Memory for one compiled pattern and its automaton; a pattern that needs more is refused.
inline constexpr std::int64_t kMostPatternBytes = 8 * 1024 * 1024;

/// `text` compiled, whether it is a regular expression or not. Short ones are kept for who asks
/// next: the same few forms of names and durations stand in many places. Thread-safe.
std::shared_ptr<const re2::RE2> compiled_regex(std::string_view text);

/// nullptr, and the reason in `fault`, when `pattern` is no regular expression or too large.
std::shared_ptr<const re2::RE2> compile_pattern(std::string_view pattern, std::string& fault);

/// A pattern of an expression, compiled at its first use. Thread-safe.
class Pattern {
 public:
  /// Compiled already.
  Pattern(std::string_view text, std::shared_ptr<const re2::RE2> compiled);
  /// One that compile_pattern() has accepted before.
  explicit Pattern(std::string_view text) : text_(text) {}
  const std::string& text() const { return text_; }
  const re2::RE2& regex() const;

 private:
  std::string text_;
  mutable base::Once once_;
  mutable std::shared_ptr<const re2::RE2> regex_;
};

/// Steps that making a pattern was worth; nullptr when it was too large. Dear compared to
/// everything else a call does.
std::uint64_t pattern_cost(const re2::RE2* pattern);
/// Steps for matching `bytes` bytes of text.
std::uint64_t match_cost(const re2::RE2& pattern, std::size_t bytes);

}  // namespace gpuctl::cel
