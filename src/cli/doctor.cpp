#include <algorithm>
#include <memory>

#include "base/date.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/day.hpp"
#include "cli/fleets.hpp"
#include "cli/progress.hpp"
#include "doctor/codes.hpp"
#include "doctor/examine.hpp"
#include "doctor/report.hpp"
#include "live/programs.hpp"
#include "secrets/mask.hpp"

namespace gpuctl::cli {

namespace {

constexpr int kMostSeconds = 3600;

struct DoctorOptions {
  std::string blueprint;
  std::string facts;
  std::string output = "text";
  std::vector<std::string> only;
  int seconds = 90;
  doctor::Settings settings;
};

// What is given must be something that can be asked; false after diagnostics.
bool check_settings(const doctor::Settings& settings, const doctor::Checks& checks,
                    diag::Sink& sink) {
  std::vector<std::string> known;
  for (const doctor::Check& check : checks.all()) {
    if (known.empty() || known.back() != check.number()) known.push_back(check.number());
    if (check.id != check.number()) known.push_back(check.id);
  }
  for (const std::string& id : settings.only) {
    if (std::find(known.begin(), known.end(), id) != known.end()) continue;
    sink.error(doctor::kNoSuchCheck, diag::kNoOrigin, "this platform has no check `" + id + "`")
        .expect(known.empty() ? "no `--only`: it has none" : "one of " + base::join(known, ", "))
        .did_you_mean(id, known);
  }
  if (!settings.resolver.empty() && !doctor::is_server_address(settings.resolver)) {
    sink.error(doctor::kNoResolver, diag::kNoOrigin,
               "`" + settings.resolver + "` is no address of a name server")
        .expect("an IP address, with a port or without: `10.0.0.53`, `[fd00::53]:53`");
  }
  return !sink.has_errors();
}

// The blueprint as far as the checks need it: rules may object, its values must be there.
std::optional<Result> derive_only(const DoctorOptions& options, Knowledge& knowledge,
                                  Report& report) {
  Request request;
  request.date = base::day_text(chosen_day(""));
  request.facts_file = options.facts;
  request.despite_rules = true;
  std::string blueprint = options.blueprint;
  if (!expand_one(blueprint, request, knowledge, report)) return std::nullopt;
  Result result = pipeline::run(blueprint, request, knowledge);
  Shown findings = report.prepare(result.sink, *result.sources);
  findings.leave_out_notes();
  report.show(findings);
  if (!result.derived || !result.opened || !result.loaded) return std::nullopt;
  return result;
}

void record(const std::vector<doctor::Result>& results, const Result& blueprint,
            ResultDocument& document) {
  yaml::Arena& arena = document.arena();
  yaml::MapBuilder cluster;
  set_cluster(blueprint.cluster(), cluster, arena);
  for (const yaml::Entry& entry : cluster.entries()) {
    document.set(entry.key.as_string(), entry.value);
  }
  const auto counts = doctor::count(results);
  yaml::MapBuilder numbers;
  for (std::size_t i = counts.size(); i > 0; --i) {
    numbers.set(arena, doctor::kVerdictNames[i - 1],
                yaml::Node::integer(static_cast<std::int64_t>(counts[i - 1])));
  }
  document.set("counts", numbers.build(arena));
  document.set("checks", doctor::report_tree(results, arena));
}

int run_doctor(const DoctorOptions& options, const GlobalOptions& global) {
  if (options.output == "json") global.result->request();
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const std::optional<Result> blueprint = derive_only(options, *knowledge, report);
  if (!blueprint) return kFindings;
  catalog::Library& library = knowledge->library();
  const catalog::Platform& platform = *blueprint->opened->compiled->platform;
  diag::Sink sink;
  const auto checks = doctor::Checks::compile(platform, library, library.has_overlays(), sink);
  doctor::Settings settings = options.settings;
  settings.only = {options.only.begin(), options.only.end()};
  settings.limit = std::chrono::seconds(options.seconds);
  if (checks == nullptr || !check_settings(settings, *checks, sink)) {
    report.show(sink, library.sources());
    return checks == nullptr ? kFindings : kUsageError;
  }
  const live::Programs programs(platform, library);
  const blueprint::Blueprint& written = blueprint->opened->blueprint;
  const doctor::Subject subject{{written.metadata, written.spec, blueprint->derived->cluster,
                                 platform.catalog, blueprint->loaded->facts},
                                blueprint->directory};
  const secrets::RulesMask mask(knowledge->secret_rules());
  const auto results = [&] {
    const Waiting waiting(report, "asking what the cluster depends on");
    return doctor::examine(*checks, programs, subject, settings, mask, library.sources(), sink);
  }();
  report.show(sink, library.sources());
  if (!results) return kFindings;
  if (global.result->wanted()) record(*results, *blueprint, *global.result);
  if (!print(doctor::report_text(*results, global.verbose), global)) return kFindings;
  const auto counts = doctor::count(*results);
  const bool fails = counts[static_cast<std::size_t>(doctor::Verdict::fail)] != 0;
  return fails || report.errors() != 0 ? kFindings : kOk;
}

RunFunction set_up_doctor(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<DoctorOptions>();
  command.add_option("BLUEPRINT", options->blueprint, "Blueprint file").required();
  command
      .add_option("--facts", options->facts, "Facts of the cluster (default: beside the blueprint)")
      .type_name("FILE");
  command
      .add_option("--pull-secret", options->settings.pull_secret_file,
                  "Pull secret to try instead of the one that the blueprint names")
      .type_name("FILE");
  command
      .add_option("--repo", options->settings.repository,
                  "Address of the repository to try (default: `gitops.repoURL` of the blueprint)")
      .type_name("ADDRESS");
  command.add_option("--only", options->only, "Only these checks, by id, separated by commas")
      .delimiter(',')
      .type_name("ID,...");
  command.add_option("--timeout", options->seconds, "Seconds for all checks together")
      .in_range(1, kMostSeconds)
      .capture_default_str()
      .type_name("S");
  command
      .add_option("--resolver", options->settings.resolver,
                  "Name server to ask besides those of the system, such as that of the nodes")
      .type_name("ADDRESS");
  command
      .add_option("--installer", options->settings.installer_directory,
                  "Directory that the installer is to work in")
      .type_name("DIR");
  command.add_option("-o,--output", options->output, "Form: text, json (one document)")
      .one_of({"text", "json"})
      .capture_default_str();
  return [options, &global] { return run_doctor(*options, global); };
}

}  // namespace

Command doctor_command() {
  return {
      "doctor", "Examine what a cluster depends on: names, certificates, registries, quotas, GPUs",
      "Asks name servers, registries, time servers, Git, the platform and this machine, side by "
      "side\n"
      "and without changing anything. Each check passes, warns or fails, is skipped where it is "
      "not\n"
      "for the cluster, or is unknown where nobody could be asked. Checks stand in the order of "
      "their\n"
      "value; -v says what was seen in those that pass, too.\n\n"
      "Exit code: 0 when nothing fails, 1 when a check does, or the blueprint is refused.\n\n"
      "Example:\n"
      "  gpuctl doctor cluster.yaml\n"
      "  gpuctl doctor cluster.yaml --only D1,D5 --resolver 10.0.0.53 --pull-secret pull.json\n",
      set_up_doctor};
}

}  // namespace gpuctl::cli
