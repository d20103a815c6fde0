#include "cli/effect_limit.hpp"

#include "cli/codes.hpp"

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

void check_limit(const effects::ClusterChange& change, const EffectLimit& limit, diag::Sink& sink) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> named;
  std::set<std::string> classes;
  std::size_t count = 0;
  const auto look_at = [&](Effect effect, const std::string& what) {
    if (!exceeds(effect, limit.most) || limit.allowed.contains(effect)) return;
    classes.emplace(effects::name_of(effect));
    if (++count <= kMostNamed) named.push_back(std::string(effects::name_of(effect)) + ": " + what);
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
  if (count == 0) return;
  const std::vector<std::string> allow(classes.begin(), classes.end());
  auto& finding =
      sink.error(kTooMuch, diag::kNoOrigin,
                 "the change of `" + change.cluster + "` does more to the cluster than is allowed")
          .expect("nothing worse than " + limit.source);
  for (const std::string& one : named) finding.note(one);
  if (count > kMostNamed) finding.note("and " + std::to_string(count - kMostNamed) + " more");
  finding.suggest("look at it with `gpuctl plan`; if it is meant, give `--allow " +
                  base::join(allow, " --allow ") + "`, or set `gitops.maxEffect` in the blueprint");
}

}  // namespace gpuctl::cli
