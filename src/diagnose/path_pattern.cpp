#include "diagnose/path_pattern.hpp"

#include "base/text.hpp"

namespace gpuctl::diagnose {

std::optional<PathPattern> PathPattern::parse(std::string_view text) {
  PathPattern out;
  for (std::string_view written : base::split(text, '/')) {
    if (written.empty()) return std::nullopt;
    Step step;
    while (!written.empty()) {
      if (written.front() == '*') {
        step.push_back({"", true});
        written.remove_prefix(1);
      } else if (written.front() == '{') {
        const std::size_t end = written.find('}');
        if (end == std::string_view::npos || end == 1) return std::nullopt;
        step.push_back({std::string(written.substr(1, end - 1)), true});
        written.remove_prefix(end + 1);
      } else {
        const std::size_t end = std::min(written.find_first_of("*{"), written.size());
        step.push_back({std::string(written.substr(0, end)), false});
        written.remove_prefix(end);
      }
    }
    out.steps_.push_back(std::move(step));
  }
  return out;
}

// Longest first, so that `{pod}_{container}` gives names with `_` to the pod.
bool PathPattern::fits(const Step& step, std::size_t piece, std::string_view name, Parts& parts) {
  if (piece == step.size()) return name.empty();
  const Piece& one = step[piece];
  if (!one.wild) {
    return name.starts_with(one.text) && fits(step, piece + 1, name.substr(one.text.size()), parts);
  }
  for (std::size_t taken = name.size(); taken > 0; --taken) {
    if (!fits(step, piece + 1, name.substr(taken), parts)) continue;
    if (!one.text.empty()) parts[one.text] = name.substr(0, taken);
    return true;
  }
  return false;
}

std::optional<PathPattern::Parts> PathPattern::match(std::string_view path) const {
  const std::vector<std::string_view> names = base::split(path, '/');
  if (names.size() < steps_.size()) return std::nullopt;
  Parts parts;
  const std::size_t first = names.size() - steps_.size();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (!fits(steps_[i], 0, names[first + i], parts)) return std::nullopt;
  }
  return parts;
}

}  // namespace gpuctl::diagnose
