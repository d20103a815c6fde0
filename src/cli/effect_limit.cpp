#include "cli/effect_limit.hpp"

#include "cli/codes.hpp"
#include "cli/planned.hpp"
#include "effects/alike.hpp"

namespace gpuctl::cli {

using effects::Effect;

EffectLimit limit_of(const Result& result, const ApplyOptions& options) {
  constexpr std::string_view kProduction = "prod";
  EffectLimit out;
  for (const std::string& name : options.allow) {
    if (const auto effect = effects::effect_named(name)) out.allowed.insert(*effect);
  }
  const blueprint::Blueprint& blueprint = result.opened->blueprint;
  const std::string_view written = blueprint.spec.get({"gitops", "maxEffect"}).as_string();
  if (const auto effect = effects::effect_named(options.max_effect)) {
    out.most = *effect;
    out.source = "`--max-effect " + options.max_effect + "`";
  } else if (const auto own = effects::effect_named(written)) {
    out.most = *own;
    out.source = "`gitops.maxEffect: " + std::string(written) + "` of the blueprint";
  } else {
    out.most = blueprint.stage == kProduction ? Effect::operands : Effect::machines_deleted;
    out.source = "`" + std::string(effects::name_of(out.most)) + "`, the default of stage `" +
                 blueprint.stage + "`";
  }
  return out;
}

namespace {

// A list that somebody reads.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i) {
    out += (out.empty() ? "`" : ", `") + names[i] + "`";
  }
  if (names.size() > kMost) out += ", and " + std::to_string(names.size() - kMost) + " more";
  return out;
}

// What of a change is too much.
struct Excess {
  std::vector<std::string> named;  // the worst of it
  std::set<std::string> classes;
  std::size_t count = 0;
};

Excess excess_of(const effects::ClusterChange& change, const EffectLimit& limit) {
  constexpr std::size_t kMostNamed = 5;
  Excess out;
  const auto look_at = [&](Effect effect, const std::string& what) {
    if (!exceeds(effect, limit.most) || limit.allowed.contains(effect)) return;
    out.classes.emplace(effects::name_of(effect));
    if (++out.count > kMostNamed) return;
    out.named.push_back(std::string(effects::name_of(effect)) + ": " + what);
  };
  for (const effects::ObjectChange& object : change.assessment.objects) {
    for (const effects::Finding& finding : object.findings) {
      if (finding.held) continue;
      const std::string extent = effects::extent_of(finding);
      look_at(finding.effect, object.kind + " `" + object.name + "`" +
                                  (extent.empty() ? "" : ", " + extent) + ": " + finding.reason);
    }
  }
  for (const effects::FileChange& file : change.assessment.files) {
    look_at(file.effect, "`" + file.path + "`: " + file.reason);
  }
  return out;
}

void report(const std::string& cluster, const std::vector<std::string>& others,
            const EffectLimit& limit, const Excess& excess, diag::Sink& sink) {
  const std::vector<std::string> allow(excess.classes.begin(), excess.classes.end());
  const std::string alike =
      others.empty() ? " does more to the cluster"
                     : " and of " + counted(others.size(), "other cluster") + " does more to them";
  auto& finding = sink.error(kTooMuch, diag::kNoOrigin,
                             "the change of `" + cluster + "`" + alike + " than is allowed")
                      .expect("nothing worse than " + limit.source);
  if (!others.empty()) finding.note("alike: " + some_of(others));
  for (const std::string& one : excess.named) finding.note(one);
  if (excess.count > excess.named.size()) {
    finding.note("and " + std::to_string(excess.count - excess.named.size()) + " more");
  }
  finding.suggest("look at it with `gpuctl plan`; if it is meant, give `--allow " +
                  base::join(allow, " --allow ") + "`, or set `gitops.maxEffect` in the blueprint");
}

}  // namespace

void check_limits(const std::vector<Planned>& plans, diag::Sink& sink) {
  std::vector<effects::ClusterChange> changes;
  std::vector<const EffectLimit*> limits;
  for (const Planned& planned : plans) {
    if (excess_of(planned.effects, planned.limit).count == 0) continue;
    changes.push_back(planned.effects);
    changes.back().choices += planned.limit.source;  // alike are those with the same limit
    limits.push_back(&planned.limit);
  }
  for (const std::vector<std::size_t>& group : effects::alike(changes)) {
    const std::size_t first = group.front();
    std::vector<std::string> others;
    for (std::size_t i = 1; i < group.size(); ++i) others.push_back(changes[group[i]].cluster);
    report(changes[first].cluster, others, *limits[first],
           excess_of(changes[first], *limits[first]), sink);
  }
}

}  // namespace gpuctl::cli
