#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/date.hpp"
#include "cli/apply_run.hpp"
#include "cli/codes.hpp"
#include "cli/day.hpp"
#include "cli/fleets.hpp"
#include "fleet/codes.hpp"

namespace gpuctl::cli {

namespace {

struct PromoteOptions {
  ApplyOptions apply;
  std::string from;
  std::string to;
  std::vector<std::string> like;  // clusters of `from`: NAME or STAGE/NAME
};

// A cluster of the command line.
struct NamedStage {
  std::string file;  // of its blueprint; empty: it stands in a fleet
  std::string stage;
  std::string name;

  std::string id() const { return stage + "/" + name; }
};

// All clusters of the command line; nothing after shown errors.
std::optional<std::vector<NamedStage>> find_clusters(const BlueprintOptions& inputs,
                                                     Knowledge& knowledge, Report& report) {
  BlueprintOptions all;
  all.blueprints = inputs.blueprints;
  const std::optional<ChosenClusters> chosen = choose_clusters(all, knowledge, report);
  if (!chosen) return std::nullopt;
  std::vector<NamedStage> out;
  for (const Chosen& one : chosen->chosen)
    out.push_back({"", one.cluster->stage, one.cluster->name});
  Request request;
  request.date = base::day_text(chosen_day(""));
  request.given = chosen->given;
  request.despite_rules = true;  // they are asked when the cluster is planned
  for (const std::string& file : chosen->blueprints) {
    if (chosen->members && chosen->members->contains(file)) continue;
    const Result result = pipeline::run(file, request, knowledge);
    if (!result.opened) {
      report.show(result.sink, *result.sources);
      return std::nullopt;
    }
    out.push_back({file, result.opened->blueprint.stage, result.opened->blueprint.name});
  }
  return out;
}

// Whose releases a cluster is to have: those that the command line names; else the one of its name,
// else all.
std::vector<std::string> sources_of(const NamedStage& target,
                                    const std::vector<std::string>& sources,
                                    const std::vector<std::string>& like, const std::string& from) {
  if (!like.empty()) return like;
  const std::string same = from + "/" + target.name;
  const bool known = std::find(sources.begin(), sources.end(), same) != sources.end();
  return known ? std::vector<std::string>{same} : sources;
}

// The clusters that `--like` names, whole; nothing after a diagnostic.
std::optional<std::vector<std::string>> named_sources(const PromoteOptions& options,
                                                      const std::vector<std::string>& sources,
                                                      diag::Sink& sink) {
  std::vector<std::string> out;
  for (const std::string& word : options.like) {
    const bool whole = word.find('/') != std::string::npos;
    std::string id = whole ? word : options.from + "/" + word;
    if (std::find(sources.begin(), sources.end(), id) == sources.end()) {
      sink.error(
              fleet::kNoSuchCluster, diag::kNoOrigin,
              "no cluster of stage `" + shown(options.from) + "` is called `" + shown(word) + "`")
          .did_you_mean(id, sources);
      return std::nullopt;
    }
    out.push_back(std::move(id));
  }
  return out;
}

void report_no_stage(const std::string& stage, const std::vector<NamedStage>& clusters,
                     diag::Sink& sink) {
  std::set<std::string> known;
  for (const NamedStage& one : clusters) known.insert(one.stage);
  const std::vector<std::string> stages(known.begin(), known.end());
  sink.error(fleet::kNoSuchCluster, diag::kNoOrigin,
             "no cluster is of stage `" + shown(stage) + "`")
      .expect("one of " + base::join(stages, ", "))
      .did_you_mean(stage, stages);
}

// What apply is to do; nothing after shown errors.
std::optional<ApplyOptions> promotion(const PromoteOptions& options, Knowledge& knowledge,
                                      Report& report) {
  const auto clusters = find_clusters(options.apply.inputs, knowledge, report);
  if (!clusters) return std::nullopt;
  diag::Sink sink;
  std::vector<std::string> sources;
  std::vector<NamedStage> targets;
  bool in_fleet = false;
  for (const NamedStage& one : *clusters) {
    if (one.stage == options.from) sources.push_back(one.id());
    if (one.stage != options.to) continue;
    targets.push_back(one);
    in_fleet = in_fleet || one.file.empty();
  }
  if (sources.empty()) report_no_stage(options.from, *clusters, sink);
  if (targets.empty()) report_no_stage(options.to, *clusters, sink);
  std::optional<std::vector<std::string>> like;
  if (!sink.has_errors()) like = named_sources(options, sources, sink);
  report.show(sink, diag::Sources());
  if (!like) return std::nullopt;
  ApplyOptions out = options.apply;
  std::set<std::string> others;  // blueprints of other stages
  for (const NamedStage& one : *clusters) {
    if (!one.file.empty() && one.stage != options.to) others.insert(one.file);
  }
  std::erase_if(out.inputs.blueprints,
                [&](const std::string& file) { return others.contains(file); });
  if (in_fleet) out.inputs.stages = {options.to};
  for (const NamedStage& target : targets) {
    out.like[target.id()] = sources_of(target, sources, *like, options.from);
  }
  if (out.message.empty()) out.message = "Promote " + options.from + " to " + options.to;
  if (out.branch.empty()) out.branch = "gpuctl/promote-" + options.to;
  return out;
}

int run_promote(const PromoteOptions& options, const GlobalOptions& global) {
  global.result->set("status", std::string_view("failed"));
  global.result->set_flag("dryRun", options.apply.dry_run);
  if (options.from == options.to) {
    Report report(global);
    diag::Sink sink;
    sink.error(kUsage, diag::kNoOrigin, "`--from` and `--to` name the same stage");
    report.show(sink, diag::Sources());
    return kUsageError;
  }
  std::optional<ApplyOptions> chosen;
  {
    Report report(global);
    Knowledge* knowledge = open_knowledge(global, report);
    if (knowledge == nullptr) return kFindings;
    chosen = promotion(options, *knowledge, report);
  }
  return chosen ? run_apply(*chosen, global) : kFindings;
}

}  // namespace

Command promote_command() {
  return {
      "promote", "Bring the releases of one stage to the next, and commit the result",
      "Clusters of the stage --to get the releases that clusters of the stage --from have:\n"
      "operators, drivers, controllers and images, as their `gpuctl.lock` has them, where their\n"
      "blueprints name none. Nothing else may change: what is pending is committed with apply\n"
      "first. Those of the cluster of the same name in --from, else of all there, which have to\n"
      "agree, or of those that --like names.\n\n"
      "The plan is printed, and committed to the branch `gpuctl/promote-STAGE` unless --branch\n"
      "names another. A stage with waves goes wave by wave.\n\n"
      "Example:\n"
      "  gpuctl promote fleet.yaml --from dev --to stage --repo fleet --dry-run\n"
      "  gpuctl promote fleet.yaml --from stage --to prod --wave canary --repo fleet\n"
      "  gpuctl promote dev.yaml prod.yaml --from dev --to prod --repo fleet --branch main\n",
      [](Options& command, const GlobalOptions& global) {
        auto options = std::make_shared<PromoteOptions>();
        command.add_option("--from", options->from, "The stage that has the releases")
            .required()
            .type_name("STAGE");
        command.add_option("--to", options->to, "The stage that is to have them")
            .required()
            .type_name("STAGE");
        command
            .add_option("--like", options->like,
                        "A cluster of --from to take the releases from; may be repeated")
            .type_name("CLUSTER")
            .allow_extra_args(false);
        options->apply.add_to(command);
        command.remove_option("--stage");
        command.add_flag("--dry-run", options->apply.dry_run,
                         "Say which releases and files would change and what that does; commit "
                         "nothing");
        return [options, &global] { return run_promote(*options, global); };
      }};
}

}  // namespace gpuctl::cli
