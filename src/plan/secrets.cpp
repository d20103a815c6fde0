#include <re2/set.h>

#include <algorithm>

#include "plan/codes.hpp"
#include "plan/plan.hpp"

namespace gpuctl::plan {

void refuse_secrets(const ClusterFiles& files, const yaml::Node& patterns, diag::Sink& sink) {
  re2::RE2::Set set(re2::RE2::Quiet, re2::RE2::UNANCHORED);
  std::vector<yaml::Node> rows;
  for (const yaml::Entry& entry : patterns.entries()) {
    const std::string_view pattern = entry.value.get("pattern").as_string();
    if (set.Add(re2::StringPiece(pattern.data(), pattern.size()), nullptr) >= 0) {
      rows.push_back(entry.value);
    }
  }
  if (rows.empty() || !set.Compile()) return;
  for (const auto& [path, content] : files.files) {
    std::vector<int> hits;
    if (!set.Match(content, &hits)) continue;
    std::sort(hits.begin(), hits.end());
    for (const int hit : hits) {
      const yaml::Node& row = rows[static_cast<std::size_t>(hit)];
      const std::string_view pattern = row.get("pattern").as_string();
      const re2::RE2 expression(re2::StringPiece(pattern.data(), pattern.size()), re2::RE2::Quiet);
      re2::StringPiece match;
      const re2::StringPiece text(content);
      std::ptrdiff_t line = 1;
      if (expression.Match(text, 0, content.size(), re2::RE2::UNANCHORED, &match, 1)) {
        line += std::count(content.data(), match.data(), '\n');
      }
      sink.error(kSecretInOutput, diag::kNoOrigin,
                 "`" + files.directory + "/" + path + "` line " + std::to_string(line) +
                     " holds what looks like " + std::string(row.get("name").as_string()))
          .suggest(
              "give secrets by reference (`env`, `file`, `externalSecret`, `existing`); "
              "nothing was written");
    }
  }
}

}  // namespace gpuctl::plan
