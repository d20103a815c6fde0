#include <re2/set.h>

#include <algorithm>

#include "plan/codes.hpp"
#include "plan/plan.hpp"

namespace gpuctl::plan {

SecretPatterns::SecretPatterns(const yaml::Node& patterns) {
  auto set = std::make_unique<re2::RE2::Set>(re2::RE2::Quiet, re2::RE2::UNANCHORED);
  for (const yaml::Entry& entry : patterns.entries()) {
    const std::string_view pattern = entry.value.get("pattern").as_string();
    if (set->Add(re2::StringPiece(pattern.data(), pattern.size()), nullptr) >= 0) {
      rows_.push_back(entry.value);
    }
  }
  if (!rows_.empty() && set->Compile()) set_ = std::move(set);
}

SecretPatterns::~SecretPatterns() = default;

void SecretPatterns::refuse(const ClusterFiles& files, diag::Sink& sink) const {
  if (set_ == nullptr) return;
  for (const auto& [path, content] : files.files) {
    std::vector<int> hits;
    if (!set_->Match(content, &hits)) continue;
    std::sort(hits.begin(), hits.end());
    for (const int hit : hits) {
      const yaml::Node& row = rows_[static_cast<std::size_t>(hit)];
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
              "give secrets by reference (`env`, `file`, `externalSecret`, `sealedSecret`, "
              "`existing`); "
              "nothing was written");
    }
  }
}

}  // namespace gpuctl::plan
