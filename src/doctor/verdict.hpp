// What came of a check.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuctl::doctor {

/// In the order in which one counts more than another: the verdict of a check is that of its worst
/// finding.
enum class Verdict : std::uint8_t { skip, pass, warn, unknown, fail };
inline constexpr std::array<std::string_view, 5> kVerdictNames = {"skip", "pass", "warn", "unknown",
                                                                  "fail"};

inline std::string_view name_of(Verdict verdict) {
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}
/// The verdict of that name.
inline std::optional<Verdict> verdict_named(std::string_view name) {
  for (std::size_t i = 0; i < kVerdictNames.size(); ++i) {
    if (kVerdictNames[i] == name) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

/// One thing that a check has seen. No text of it holds a secret.
struct Finding {
  Verdict verdict = Verdict::pass;
  std::string evidence;
  std::string remedy;  // may be empty
};

/// The result of a check: at least one finding.
struct Result {
  std::string id;
  std::string title;
  std::string source;
  bool fatal = false;  // an installation must not begin while it fails
  std::vector<Finding> findings;

  Verdict verdict() const {
    Verdict worst = Verdict::skip;
    for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
    return worst;
  }
};

}  // namespace gpuctl::doctor
