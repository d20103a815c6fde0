// Regular expressions of CEL: RE2, which takes time in proportion to the text whatever the pattern.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace gpuctl::cel {

/// Memory for one compiled pattern and its automaton; a pattern that needs more is refused.
inline constexpr std::int64_t kMostPatternBytes = 8 * 1024 * 1024;

/// nullptr, and the reason in `fault`, when `pattern` is no regular expression or too large.
std::shared_ptr<const re2::RE2> compile_pattern(std::string_view pattern, std::string& fault);

/// Steps that making a pattern was worth; nullptr when it was too large. Dear compared to
/// everything else a call does.
std::uint64_t pattern_cost(const re2::RE2* pattern);
/// Steps for matching `bytes` bytes of text.
std::uint64_t match_cost(const re2::RE2& pattern, std::size_t bytes);

}  // namespace gpuctl::cel
