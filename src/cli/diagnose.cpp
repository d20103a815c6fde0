// `gpuctl diagnose`: which link between a machine and its GPUs is broken, and why.
#include <memory>

#include "base/date.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/day.hpp"
#include "cli/fleets.hpp"
#include "cli/progress.hpp"
#include "diagnose/ask_cluster.hpp"
#include "diagnose/codes.hpp"
#include "diagnose/gather.hpp"
#include "diagnose/report.hpp"
#include "live/programs.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

struct DiagnoseOptions {
  std::vector<std::string> inputs;
  std::string blueprint;
  std::string facts;
  bool live = false;
  std::string kubeconfig;
  std::string platform;
  std::string output = "text";
};

// What is known beforehand.
struct Ground {
  std::vector<std::string> folders;  // whose knowledge counts
  const catalog::Platform* platform = nullptr;
  std::unique_ptr<Result> planned;  // of the blueprint

  yaml::Node cluster() const {
    return planned == nullptr ? yaml::Node() : planned->derived->cluster;
  }
};

bool plan(const DiagnoseOptions& options, Knowledge& knowledge, Report& report, Ground& ground) {
  Request request{base::day_text(chosen_day({})), options.facts};
  std::string blueprint = options.blueprint;
  if (!expand_one(blueprint, request, knowledge, report)) return false;
  ground.planned = std::make_unique<Result>(pipeline::run(blueprint, request, knowledge));
  if (ground.planned->derived) {
    ground.platform = ground.planned->opened->compiled->platform.get();
    return true;
  }
  report.show(ground.planned->sink, *ground.planned->sources);
  return false;
}

std::optional<Ground> find_ground(const DiagnoseOptions& options, Knowledge& knowledge,
                                  Report& report) {
  Ground out;
  if (!options.blueprint.empty()) {
    if (!plan(options, knowledge, report, out)) return std::nullopt;
  } else if (!options.platform.empty()) {
    diag::Sink sink;
    const pipeline::Compiled* compiled =
        knowledge.platform(options.platform, diag::kNoOrigin, sink);
    if (compiled == nullptr) {
      report.show(sink, knowledge.library().sources());
      return std::nullopt;
    }
    out.platform = compiled->platform.get();
  }
  out.folders = out.platform != nullptr ? out.platform->builds
                                        : catalog::provider_folders(knowledge.library());
  return out;
}

// The program of the cluster; without a platform that of the first that has one.
bool find_program(const Ground& ground, Knowledge& knowledge, diagnose::Reach& reach,
                  diag::Sink& sink) {
  constexpr std::string_view kCluster = "cluster";
  catalog::Platform any;
  any.builds = ground.folders;
  const live::Programs programs(ground.platform != nullptr ? *ground.platform : any,
                                knowledge.library());
  const std::optional<std::string> path = programs.locate(kCluster, sink);
  if (!path) return false;
  reach.program = *path;
  reach.without = programs.find(kCluster)->without;
  return true;
}

int run_diagnose(const DiagnoseOptions& options, const GlobalOptions& global) {
  Report report(global);
  diag::Sink sink;
  if (options.inputs.empty() && !options.live) {
    sink.error(kUsage, diag::kNoOrigin, "nothing is given to look at")
        .expect("files or directories, or `--live`")
        .suggest("see `gpuctl diagnose --help`");
    report.show(sink, diag::Sources());
    return kUsageError;
  }
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const std::optional<Ground> ground = find_ground(options, *knowledge, report);
  if (!ground) return kFindings;
  catalog::Library& library = knowledge->library();
  knowledge->secret_rules();  // they mask what is shown
  if (library.has_overlays()) diagnose::check(library, sink);
  const diagnose::Chain chain(ground->folders, library, false, sink);
  if (sink.has_errors()) {
    report.show(sink, library.sources());
    return kFindings;
  }
  const signature::Signatures signatures(ground->folders, library, signature::Use::diagnosis);
  diag::Sources sources(&library.sources());
  yaml::Arena arena;
  const yaml::Context context{sources, arena, sink};
  diagnose::Evidence evidence(chain);
  diagnose::gather(options.inputs, chain, evidence, kUnreadable, context);
  diagnose::Reach reach;
  reach.kubeconfig = options.kubeconfig;
  if (options.live && find_program(*ground, *knowledge, reach, sink)) {
    const Waiting waiting(report, "asking the cluster");
    diagnose::ask_objects(chain, reach, evidence, context);
    if (!sink.has_errors()) {
      const auto wanted = diagnose::wanted_logs(chain, evidence, ground->cluster(), context);
      diagnose::ask_logs(chain, reach, wanted, evidence, context);
    }
  }
  if (!sink.has_errors() && evidence.count() == 0 && evidence.logs.empty() && !options.live) {
    sink.error(diagnose::kNothingGiven, diag::kNoOrigin,
               "there is no object and no log in what is given")
        .expect("a must-gather, the gather of an operator, logs, or objects as YAML or JSON");
  }
  if (sink.has_errors()) {
    report.show(sink, sources);
    return kFindings;
  }
  const diagnose::Diagnosis diagnosis =
      diagnose::judge(chain, signatures, evidence, ground->cluster(), context);
  report.show(sink, sources);
  const diagnose::Looked looked{evidence.count(), evidence.logs.size()};
  const yaml::Node tree = diagnose::as_tree(diagnosis, looked, sources, arena);
  for (const yaml::Entry& entry : tree.entries()) {
    global.result->set(entry.key.as_string(), entry.value);
  }
  const std::string text = options.output == "json" ? yaml::emit_json(tree) + "\n"
                                                    : diagnose::as_text(diagnosis, looked, sources);
  if (!print(text, global)) return kFindings;
  return diagnosis.healthy() ? kOk : kFindings;
}

RunFunction set_up_diagnose(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<DiagnoseOptions>();
  command
      .add_option("inputs", options->inputs,
                  "A must-gather, the gather of the GPU operator, logs, objects as YAML or JSON")
      .type_name("FILE|DIR");
  command.add_flag("--live", options->live, "Ask the cluster that the kubeconfig leads to");
  command
      .add_option("--kubeconfig", options->kubeconfig,
                  "With `--live`: where it is (default: as KUBECONFIG says)")
      .type_name("FILE");
  command
      .add_option("--blueprint", options->blueprint,
                  "Blueprint of the cluster: what its pools should offer")
      .type_name("FILE");
  command
      .add_option("--facts", options->facts, "Facts of the cluster (default: beside the blueprint)")
      .type_name("FILE");
  command
      .add_option("--platform", options->platform,
                  "Whose knowledge counts (default: that of the blueprint, or all)")
      .type_name("PLATFORM");
  command.add_option("-o,--output", options->output, "Format: text or json")
      .one_of({"text", "json"});
  return [options, &global] { return run_diagnose(*options, global); };
}

}  // namespace

Command diagnose_command() {
  return {
      "diagnose", "Say which link between a machine and its GPUs is broken, and why",
      "Goes along the chain from a machine to GPUs that pods can ask for, in what others gathered\n"
      "or in the cluster itself, which is only read. The first broken link comes first, with what\n"
      "is known of its cause; those behind it wait for it. Secrets are neither read nor shown.\n\n"
      "Exit code 0: no link is broken, 1: one is.\n\n"
      "Example:\n"
      "  gpuctl diagnose must-gather.local.5421\n"
      "  gpuctl diagnose --live --blueprint cluster.yaml\n"
      "  gpuctl diagnose driver.log\n",
      set_up_diagnose};
}

}  // namespace gpuctl::cli
