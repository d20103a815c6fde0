#include "pipeline/promotion.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "pipeline/codes.hpp"
#include "pipeline/version.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::pipeline {

namespace {

// "drivers[large].version" -> "drivers[].version": the row that a choice is of.
std::string row_of(std::string_view path) {
  std::string out;
  bool inside = false;
  for (const char c : path) {
    if (c == ']') inside = false;
    if (!inside) out += c;
    if (c == '[') inside = true;
  }
  return out;
}

std::string file_of(const std::string& cluster, std::string_view name) {
  return "clusters/" + cluster + "/" + std::string(name);
}

// The platform that the summary of a cluster names; "" when there is no such file.
std::string platform_of(const std::string& cluster, const Request& request, yaml::Context context) {
  constexpr std::string_view kSummary = "cluster.yaml";
  const std::string path = file_of(cluster, kSummary);
  std::optional<std::string> text = request.earlier ? request.earlier(path) : std::nullopt;
  if (!text) return {};
  diag::Sink unread;  // whoever wrote it is told when the cluster itself is run
  const yaml::Context quiet = context.into(unread);
  const auto summary = yaml::read(context.sources.add_file(path, std::move(*text)), quiet.sources,
                                  quiet.arena, unread);
  return summary ? std::string(summary->get("platform").as_string()) : std::string();
}

// What a lock recorded last of the versions that commits asked for, and where; null: nothing.
yaml::Node version_of(const plan::Lock& lock, const yaml::Node& axis) {
  const std::string_view path = axis.get({"hops", "history"}).as_string();
  for (const derive::Choice& choice : lock.choices) {
    if (choice.path == path && choice.value.size() != 0) return choice.value.items().back();
  }
  return {};
}

// Says which versions that blueprints name differ, because nothing here moves them.
void compare_versions(const plan::Lock& lock, const plan::Lock& own, const std::string& cluster,
                      const Compiled& compiled, const blueprint::Blueprint& blueprint,
                      diag::Sink& sink) {
  for (const yaml::Node& axis : compiled.platform->axes) {
    const yaml::Node there = version_of(lock, axis);
    const yaml::Node here = version_of(own, axis);
    if (there.is_null() || here.is_null() || yaml::equal(there, here)) continue;
    const std::string version(there.as_string());
    yaml::Node field = blueprint.document;
    const std::string_view path = axis.get("field").as_string();
    for (const std::string_view step : base::split(path, '.')) field = field.get(step);
    sink.note(kVersionStays, field.origin(),
              std::string(axis.get("title").as_string()) + " is not promoted: `" + cluster +
                  "` has " + version + ", and this cluster " + std::string(here.as_string()))
        .suggest("`gpuctl upgrade --to " + version +
                 " --dry-run` shows the way, for a blueprint with a file of its own");
  }
}

}  // namespace

bool is_promoted(const Compiled& compiled, const std::string& path) {
  for (const yaml::Node& axis : compiled.platform->axes) {
    if (axis.get("keep").as_string() == path) return true;
  }
  const std::string wanted = row_of(path);
  const auto& rows = compiled.derivation->rows;
  return std::any_of(rows.begin(), rows.end(), [&](const derive::Row& row) {
    return row.text == wanted && row.written.get("promote").as_boolean();
  });
}

std::optional<Adopted> releases_of(const std::vector<std::string>& clusters, const plan::Lock* own,
                                   const Compiled& compiled, const Request& request,
                                   const blueprint::Blueprint& blueprint, yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  const diag::Origin here = blueprint.metadata.get("name").origin();
  const std::string platform(blueprint.spec.get("platform").as_string());
  std::map<std::string, yaml::Node> choices;
  Adopted out;
  bool some = false;
  for (const std::string& cluster : clusters) {
    const std::string path = file_of(cluster, plan::kLockFile);
    std::optional<std::string> text = request.earlier ? request.earlier(path) : std::nullopt;
    if (!text) {
      sink.error(kNothingToPromote, here, "`" + cluster + "` has no commit yet")
          .note("no `" + path + "` on the branch")
          .suggest("commit it first with `gpuctl apply`, and see that it works");
      return std::nullopt;
    }
    if (platform_of(cluster, request, context) != platform) continue;
    some = true;
    const diag::FileId file = sources.add_file(path, std::move(*text));
    const auto lock =
        plan::read_lock(file, cluster.substr(cluster.rfind('/') + 1), kVersion, context);
    if (!lock) return std::nullopt;
    if (own != nullptr) compare_versions(*lock, *own, cluster, compiled, blueprint, sink);
    for (const derive::Choice& choice : lock->choices) {
      if (!is_promoted(compiled, choice.path)) continue;
      const auto [found, is_new] = choices.emplace(choice.path, choice.value);
      if (is_new) out.from[choice.path] = cluster;
      if (is_new || yaml::equal(found->second, choice.value)) continue;
      sink.error(kPromotionDiffers, choice.value.origin(),
                 "`" + out.from[choice.path] + "` and `" + cluster + "` have different releases")
          .label("`" + choice.path + "` is " + yaml::emit_json(choice.value) + " here")
          .also(found->second.origin(), yaml::emit_json(found->second) + " there")
          .note("`" + blueprint.stage + "/" + blueprint.name + "` is to have one of them")
          .suggest("bring them to the same release, or name one of them with `--like`");
      return std::nullopt;
    }
  }
  if (!some) {
    sink.error(kNothingAlike, here, "no cluster to promote from is of platform `" + platform + "`")
        .note("looked at " + base::join(clusters, ", "))
        .suggest("name clusters of this stage alone, or leave this one out");
    return std::nullopt;
  }
  yaml::MapBuilder map;
  for (const auto& [path, value] : choices) map.set(arena, path, value);
  out.choices = map.build(arena);
  return out;
}

}  // namespace gpuctl::pipeline
