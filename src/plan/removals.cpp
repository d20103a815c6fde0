#include <map>

#include "base/text.hpp"
#include "plan/codes.hpp"
#include "plan/plan.hpp"
#include "yaml/read.hpp"

namespace gpuctl::plan {

void warn_removals(const std::vector<Change>& changes, const std::string& directory,
                   const Present& present, const catalog::Platform& platform, diag::Sink& sink) {
  constexpr std::size_t kMostNamed = 4;
  std::map<std::string, std::vector<std::string>> by_kind;
  for (const Change& change : changes) {
    if (change.kind != Change::Kind::remove) continue;
    const std::optional<std::string> content = present.read(change.path);
    if (!content) continue;
    diag::Sources sources;
    diag::Sink unread;  // a file we wrote; if it cannot be read, there is nothing to say about it
    yaml::Arena arena;
    const auto document =
        yaml::read(sources.add_file(change.path, *content), sources, arena, unread);
    if (!document) continue;
    const std::string kind(document->get("kind").as_string());
    const catalog::KindFacts* facts = platform.kind(document->get("apiVersion").as_string(), kind);
    if (facts == nullptr) continue;
    const std::string_view protection = facts->row.get("protection").as_string();
    if (protection != "confirm" && protection != "keep") continue;
    by_kind[kind].push_back("`" + std::string(document->get({"metadata", "name"}).as_string()) +
                            "`");
  }
  for (auto& [kind, names] : by_kind) {
    const std::size_t count = names.size();
    if (count > kMostNamed) {
      names.resize(kMostNamed);
      names.push_back(std::to_string(count - kMostNamed) + " more");
    }
    sink.warning(kStaysBehind, diag::kNoOrigin,
                 kind + " " + base::join(names, ", ") + (count == 1 ? " leaves" : " leave") +
                     " Git but " + (count == 1 ? "stays" : "stay") + " in the cluster")
        .note("below `" + directory +
              "`; the kind is protected, so that a mistake in Git deletes "
              "nothing that is expensive")
        .suggest("when nothing uses " + std::string(count == 1 ? "it" : "them") +
                 " any more, delete " + (count == 1 ? "it" : "them") +
                 " in the cluster, or approve the removal in the engine that reconciles it");
  }
}

}  // namespace gpuctl::plan
