#include <map>
#include <tuple>

#include "base/text.hpp"
#include "plan/codes.hpp"
#include "plan/plan.hpp"
#include "render/leaving.hpp"
#include "yaml/read.hpp"

namespace gpuctl::plan {

namespace {

constexpr std::size_t kMostNamed = 4;

// "`a`, `b` and 3 more"
std::string some_of(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) {
    out.push_back("`" + names[i] + "`");
  }
  const std::size_t rest = names.size() - out.size();
  return base::join(out, ", ") + (rest == 0 ? "" : " and " + std::to_string(rest) + " more");
}

// A kind as kubectl takes it whatever other kinds of its name there are: "Kind.version.group".
std::string argument_of(const yaml::Node& body) {
  const std::string_view written = body.get("apiVersion").as_string();
  std::string kind(body.get("kind").as_string());
  const std::size_t slash = written.find('/');
  if (slash == std::string_view::npos) return kind;
  return kind + "." + std::string(written.substr(slash + 1)) + "." +
         std::string(written.substr(0, slash));
}

struct Removed {
  std::string kind;
  std::vector<std::string> names;
};

void warn_removals(const std::vector<Change>& changes, const Lock& old,
                   const std::string& directory, const Present& present,
                   const catalog::Platform& platform, diag::Sink& sink) {
  std::map<std::pair<std::string, std::string>, Removed> by_kind;  // argument, namespace
  for (const Change& change : changes) {
    if (change.kind != Change::Kind::remove) continue;
    const auto locked = old.files.find(change.path);
    if (locked != old.files.end() && locked->second.leaving) continue;  // it is not protected
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
    Removed& removed = by_kind[{argument_of(*document),
                                std::string(document->get({"metadata", "namespace"}).as_string())}];
    removed.kind = kind;
    removed.names.emplace_back(document->get({"metadata", "name"}).as_string());
  }
  for (const auto& [key, removed] : by_kind) {
    const auto& [argument, space] = key;
    const bool one = removed.names.size() == 1;
    sink.warning(kStaysBehind, diag::kNoOrigin,
                 removed.kind + " " + some_of(removed.names) + (one ? " leaves" : " leave") +
                     " Git but " + (one ? "stays" : "stay") + " in the cluster")
        .note("below `" + directory + "`; " + (one ? "it is" : "they are") +
              " protected, so that a mistake in Git deletes nothing that is expensive")
        .suggest("when nothing uses " + std::string(one ? "it" : "them") + " any more: kubectl" +
                 (space.empty() ? "" : " -n " + space) + " delete " + argument + " " +
                 base::join(removed.names, " "));
  }
}

void note_leaving(const render::Rendered& rendered, const Lock& old, diag::Sink& sink) {
  std::map<std::string, std::vector<std::string>> by_kind;
  std::vector<std::string> layers;
  for (const render::Document& document : rendered.documents) {
    if (!document.leaving) continue;
    const auto before = old.files.find(document.path);
    if (before != old.files.end() && before->second.leaving) continue;
    if (document.raw) {
      layers.push_back(render::layer_of(document.path));
    } else {
      by_kind[std::string(document.body.get("kind").as_string())].emplace_back(
          document.body.get({"metadata", "name"}).as_string());
    }
  }
  std::size_t count = layers.size();
  std::vector<std::string> leaving;
  for (const auto& [kind, names] : by_kind) {
    leaving.push_back(kind + " " + some_of(names));
    count += names.size();
  }
  if (!layers.empty()) {
    leaving.push_back((layers.size() == 1 ? "layer " : "layers ") + some_of(layers));
  }
  if (leaving.empty()) return;
  auto& note = sink.note(kLeavesInSteps, diag::kNoOrigin,
                         base::join(leaving, "; ") + (count == 1 ? " leaves" : " leave") +
                             " in two commits, and this is the first");
  if (!by_kind.empty()) {
    note.note(
        "it takes their protection away, and the machines of a pool that is gone; the next step "
        "removes them");
  }
  if (!layers.empty()) {
    note.note(
        "a layer stays without objects until the GitOps controller has pruned what was there");
  }
  note.suggest("once it is applied and the machines are gone, give the same command `--step 2`");
}

}  // namespace

void report_removals(const std::vector<Change>& changes, const render::Rendered& rendered,
                     const Lock* old, const std::string& directory, const Present& present,
                     const catalog::Platform& platform, diag::Sink& sink) {
  if (old == nullptr) return;
  warn_removals(changes, *old, directory, present, platform, sink);
  note_leaving(rendered, *old, sink);
}

}  // namespace gpuctl::plan
