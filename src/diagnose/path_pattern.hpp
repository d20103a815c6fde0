// Paths of files that others gather: `namespaces/{namespace}/pods/{pod}/*.log`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuctl::diagnose {

/// A pattern for the end of a path. `*` and `{name}` are any text within one name, not empty.
class PathPattern {
 public:
  using Parts = std::map<std::string, std::string, std::less<>>;

  /// Nothing when a brace is left open, or a step is empty.
  static std::optional<PathPattern> parse(std::string_view text);

  /// What `{name}`s stood for, when the last steps of `path` fit.
  std::optional<Parts> match(std::string_view path) const;

 private:
  struct Piece {
    std::string text;  // literal; of a wildcard its name, empty for `*`
    bool wild = false;
  };
  using Step = std::vector<Piece>;
  static bool fits(const Step& step, std::size_t piece, std::string_view name, Parts& parts);
  std::vector<Step> steps_;
};

}  // namespace gpuctl::diagnose
