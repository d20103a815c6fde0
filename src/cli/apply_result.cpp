#include "cli/apply_result.hpp"

#include <algorithm>

#include "effects/alike.hpp"

namespace gpuctl::cli {

namespace {

yaml::Node choices_of(const Planned& planned, yaml::Arena& arena) {
  std::vector<yaml::Node> out;
  for (const MovedChoice& choice : planned.moves) {
    yaml::MapBuilder one;
    one.set(arena, "path", arena.string(choice.path));
    one.set(arena, "from", arena.string(choice.from));
    one.set(arena, "to", arena.string(choice.to));
    if (!choice.because.empty()) one.set(arena, "because", arena.string(choice.because));
    out.push_back(one.build(arena));
  }
  return arena.list(out);
}

// What has begun to leave and goes with `--step 2`.
yaml::Node next_step(const Planned& planned, yaml::Arena& arena) {
  std::vector<yaml::Node> paths;
  for (const std::string& path : planned.leaving) {
    paths.push_back(arena.string("clusters/" + planned.cluster + "/" + path));
  }
  yaml::MapBuilder out;
  out.set(arena, "step", yaml::Node::integer(2));
  out.set(arena, "removes", arena.list(paths));
  return out.build(arena);
}

yaml::Node cluster_of(const Planned& planned, bool as_patch, std::size_t files,
                      yaml::Arena& arena) {
  yaml::MapBuilder out;
  set_cluster(planned.cluster, out, arena);
  if (as_patch) {
    out.set(arena, "changed", yaml::Node::boolean(!planned.changes.empty()));
    out.set(arena, "files", arena.string(plan::summary(planned.changes)));
  } else {
    const yaml::Node effects = effects::json(planned.effects, arena);
    for (const yaml::Entry& field : effects.entries()) out.set(field.key, field.value);
  }
  set_changes(planned.changes, "clusters/" + planned.cluster, files, out, arena);
  if (as_patch) {
    out.set(arena, "patch", arena.string(planned.patch));
  } else {
    out.set(arena, "choices", choices_of(planned, arena));
    if (!planned.leaving.empty()) out.set(arena, "next", next_step(planned, arena));
  }
  return out.build(arena);
}

// Clusters by what happens to them: lists of their names, of those that change.
yaml::Node groups_of(const std::vector<Planned>& plans, yaml::Arena& arena) {
  std::vector<effects::ClusterChange> changes;
  for (const Planned& planned : plans) {
    if (planned.cluster.empty() || planned.findings.has_errors()) continue;
    if (planned.effects.changed) changes.push_back(planned.effects);
  }
  std::vector<yaml::Node> out;
  for (const std::vector<std::size_t>& group : effects::alike(changes)) {
    std::vector<yaml::Node> names;
    for (const std::size_t i : group) names.push_back(arena.string(changes[i].cluster));
    out.push_back(arena.list(names));
  }
  return arena.list(out);
}

}  // namespace

void record_plans(const std::vector<Planned>& plans, const std::string& form,
                  const std::function<std::size_t(const std::string& directory)>& present,
                  ResultDocument& result) {
  const bool as_patch = form == "diff";
  yaml::Arena& arena = result.arena();
  std::vector<yaml::Node> clusters;
  effects::Effect worst = effects::Effect::none;
  bool changed = false;
  for (const Planned& planned : plans) {
    if (planned.cluster.empty() || planned.findings.has_errors()) continue;
    const std::size_t files =
        planned.known ? present("clusters/" + planned.cluster) : planned.files;
    clusters.push_back(cluster_of(planned, as_patch, files, arena));
    worst = std::max(worst, planned.effects.assessment.worst());
    changed = changed || !planned.changes.empty();
  }
  result.set_flag("changed", changed);
  if (!as_patch) result.set("worst", effects::name_of(worst));
  result.set("clusters", arena.list(clusters));
  if (!as_patch && clusters.size() > 1) result.set("alike", groups_of(plans, arena));
}

}  // namespace gpuctl::cli
