#include <memory>

#include "cli/batch.hpp"
#include "cli/command.hpp"
#include "cli/fleets.hpp"
#include "cli/release_options.hpp"
#include "cli/report_files.hpp"
#include "plan/plan.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

std::string describe(const std::vector<derive::Choice>& choices) {
  std::string out;
  for (const derive::Choice& choice : choices) {
    out += "  " + choice.path + " = " + yaml::emit_json(choice.value) +
           (choice.because.empty() ? "" : ": " + choice.because) + (choice.kept ? " (kept)" : "") +
           "\n";
  }
  return out;
}

// A line for each entry: what it left out, and why.
std::string describe(const std::vector<pipeline::Ignored>& ignored) {
  std::string out;
  for (const pipeline::Ignored& one : ignored) {
    out += "  ignored " + one.code + ", " +
           (one.findings == 0 ? "nothing found" : counted(one.findings, "finding")) + ": " +
           shown(one.reason) + "\n";
  }
  return out;
}

std::string describe(const std::optional<schema::RuleCounts>& rules) {
  if (!rules) return {};
  return "  rules of published CRDs: " + std::to_string(rules->evaluated) + " checked, " +
         std::to_string(rules->skipped) +
         " left out (about changes, or about what is left out of Git), " +
         std::to_string(rules->unsupported) + " not checked (GPU0212 names each)\n";
}

// The same as a document for programs; `details` are what -v says of each blueprint.
void record(const std::vector<Finished>& clusters, const std::vector<std::string>& details,
            bool strict, ResultDocument& result) {
  yaml::Arena& arena = result.arena();
  std::vector<yaml::Node> blueprints;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    yaml::MapBuilder one = verdict_of(clusters[i], strict, arena);
    one.set(arena, "foreign", yaml::Node::boolean(clusters[i].foreign));
    one.set(arena, "documents",
            yaml::Node::integer(static_cast<std::int64_t>(clusters[i].documents)));
    if (!details[i].empty()) one.set(arena, "details", lines_of(details[i], arena));
    blueprints.push_back(one.build(arena));
  }
  result.set("blueprints", arena.list(blueprints));
}

int check(const BlueprintOptions& options, const ReleaseOptions& releases,
          const GlobalOptions& global, Report& report, Reported* reported) {
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  BlueprintOptions chosen = options;
  std::optional<Request> request = make_request(options, report);
  if (!request || !expand_fleets(chosen, *request, *knowledge, report)) return kFindings;
  request->foreign = true;
  request->neighbours = std::make_shared<pipeline::Neighbours>(chosen.blueprints);
  const std::optional<ReleaseOptions> given = given_releases(releases, *knowledge, report);
  if (!given) return kUsageError;
  request->releases = *given;
  std::vector<std::string> choices(chosen.blueprints.size());
  if (reported != nullptr) reported->subjects.resize(chosen.blueprints.size());
  const Consume consume = [&](std::size_t index, Result& result) {
    if (reported != nullptr) reported->subjects[index] = subject_of(result);
    if (!global.verbose) return;
    const derive::Derived none;
    const derive::Derived& derived = result.derived ? *result.derived : none;
    choices[index] = result.sources->shown(
        describe(derived.choices) + describe(derived.shown) + describe(result.ignored) +
        describe(result.manifests ? result.manifests->crd_rules : std::nullopt));
    if (!result.output) return;
    for (const std::string& exception : result.loaded->guard.used()) {
      choices[index] += "  not a secret: " + shown(exception) + "\n";
    }
  };
  const std::vector<Finished> clusters =
      run_all(chosen.blueprints, *request, *knowledge, thread_count(options.jobs), report, consume);
  const bool good = show_all(clusters, options.strict, report);
  if (global.result->wanted()) record(clusters, choices, options.strict, *global.result);
  std::string out;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const Finished& cluster = clusters[i];
    const bool accepted = cluster.accepted(options.strict);
    if (reported != nullptr) reported->subjects[i].accepted = accepted;
    if (accepted && global.quiet) continue;
    out += shown(cluster.blueprint_file) + ": " + (accepted ? "ok" : "refused");
    if (accepted) {
      out += " (" + (cluster.foreign ? "" : cluster.cluster + ", ") +
             counted(cluster.documents, "document") + ")";
    }
    out += "\n" + choices[i];
  }
  if (!print(out, global)) return kFindings;
  return good ? kOk : kFindings;
}

int run_validate(const BlueprintOptions& options, const ReleaseOptions& releases,
                 const ReportFiles& reports, const GlobalOptions& global) {
  Report report(global);
  if (reports.wanted.empty()) return check(options, releases, global, report, nullptr);
  Reported reported;
  const int exit_code = check(options, releases, global, report, &reported);
  if (exit_code == kUsageError) return exit_code;
  const bool written = reports.write(reported, options.blueprints.front(), report);
  return written ? exit_code : kFindings;
}

}  // namespace

Command validate_command() {
  return {
      "validate", "Check blueprints, or documents that others wrote, without writing anything",
      "Runs every offline check: schema, derivation, rules, rendering, and with --crds the\n"
      "published schemas of the operators. A file may also hold documents that others wrote, such\n"
      "as an installer's configuration or machine sets: they are known by their kind, and checked\n"
      "as their reader would. What they refer to is looked for in the same file, and in the other\n"
      "files given of its directory unless these define one object twice.\n"
      "Reports are for pipelines (docs/ci.md): SARIF for code scanning, JUnit for test results,\n"
      "the Code Climate format for code quality.\n"
      "Exit code 0: accepted (perhaps with warnings), 1: refused.\n\n"
      "Example:\n"
      "  gpuctl validate cluster.yaml\n"
      "  gpuctl validate machines/*.yaml\n"
      "  gpuctl validate --strict --crds crds/ fleet/*.yaml\n"
      "  gpuctl validate --report sarif=out/gpuctl.sarif --report junit=out/junit.xml *.yaml\n",
      [](Options& command, const GlobalOptions& global) {
        auto options = std::make_shared<BlueprintOptions>();
        options->add_to(command);
        const auto releases = add_release_options(
            command, "Release that reads the documents of others (default: the newest known)");
        auto reports = std::make_shared<ReportFiles>();
        reports->add_to(command);
        return [options, releases, reports, &global] {
          return run_validate(*options, *releases, *reports, global);
        };
      }};
}

}  // namespace gpuctl::cli
