#include "cli/release_options.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "catalog/documents.hpp"
#include "cli/codes.hpp"

namespace gpuctl::cli {

std::shared_ptr<ReleaseOptions> add_release_options(Options& command, const std::string& help) {
  auto releases = std::make_shared<ReleaseOptions>();
  diag::Sink none;
  catalog::Library library(&built_in_image(), {}, none);
  for (const catalog::Releases& known : catalog::all_releases(library)) {
    command.add_option("--" + known.option, (*releases)[known.option], help).type_name("X.Y");
  }
  return releases;
}

std::optional<ReleaseOptions> given_releases(const ReleaseOptions& options, Knowledge& knowledge,
                                             Report& report) {
  ReleaseOptions given;
  diag::Sink sink;
  for (const auto& [option, release] : options) {
    if (release.empty()) continue;
    const std::vector<std::string> known = knowledge.releases(option);
    if (std::find(known.begin(), known.end(), release) == known.end()) {
      sink.error(kUsage, diag::kNoOrigin,
                 "unknown release `" + release + "` for `--" + option + "`")
          .expect("one of " + base::join(known, ", "))
          .did_you_mean(release, known);
    }
    given.emplace(option, release);
  }
  report.show(sink, diag::Sources());
  if (sink.has_errors()) return std::nullopt;
  return given;
}

}  // namespace gpuctl::cli
