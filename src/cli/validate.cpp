#include <algorithm>
#include <map>
#include <memory>

#include "base/text.hpp"
#include "catalog/documents.hpp"
#include "cli/batch.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
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

// Releases as the command line gives them, by option.
using ReleaseOptions = std::map<std::string, std::string>;

int check_releases(const Request& request, Knowledge& knowledge, Report& report) {
  diag::Sink sink;
  for (const auto& [option, release] : request.releases) {
    const std::vector<std::string> known = knowledge.releases(option);
    if (std::find(known.begin(), known.end(), release) != known.end()) continue;
    sink.error(kUsage, diag::kNoOrigin, "unknown release `" + release + "` for `--" + option + "`")
        .expect("one of " + base::join(known, ", "))
        .did_you_mean(release, known);
  }
  report.show(sink, diag::Sources());
  return sink.has_errors() ? kUsageError : kOk;
}

int run_validate(const BlueprintOptions& options, const ReleaseOptions& releases,
                 const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  std::optional<Request> request = make_request(options, report);
  if (!request) return kFindings;
  request->foreign = true;
  for (const auto& [option, release] : releases) {
    if (!release.empty()) request->releases.emplace(option, release);
  }
  if (const int refused = check_releases(*request, *knowledge, report); refused != kOk) {
    return refused;
  }
  std::vector<std::string> choices(options.blueprints.size());
  const Consume consume = [&](std::size_t index, Result& result) {
    if (global.verbose) choices[index] = describe(result.choices);
  };
  const std::vector<Finished> clusters = run_all(options.blueprints, *request, *knowledge,
                                                 thread_count(options.jobs), report, consume);
  const bool good = show_all(clusters, options.strict, report);
  std::string out;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const Finished& cluster = clusters[i];
    const bool accepted = cluster.accepted(options.strict);
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

}  // namespace

void add_validate(CLI::App& app, const GlobalOptions& global, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "validate", "Check blueprints, or documents that others wrote, without writing anything");
  auto options = std::make_shared<BlueprintOptions>();
  options->add_to(*command);
  auto releases = std::make_shared<ReleaseOptions>();
  // Which options there are is knowledge, and read only when this command is run.
  command->preparse_callback([command, releases](std::size_t) {
    diag::Sink none;
    catalog::Library library(&built_in_image(), {}, none);
    for (const catalog::Releases& known : catalog::all_releases(library)) {
      command
          ->add_option("--" + known.option, (*releases)[known.option],
                       "Release that reads the documents of others (default: the newest known)")
          ->type_name("X.Y");
    }
  });
  command->footer(
      "Runs every offline check: schema, derivation, rules, rendering, and with --crds the\n"
      "published schemas of the operators. A file may also hold documents that others wrote, such\n"
      "as an installer's configuration or machine sets: they are known by their kind, and checked\n"
      "as their reader would. Exit code 0: accepted (perhaps with warnings), 1: refused.\n\n"
      "Example:\n"
      "  gpuctl validate cluster.yaml\n"
      "  gpuctl validate machines/*.yaml\n"
      "  gpuctl validate --strict --crds crds/ fleet/*.yaml\n");
  command->callback([options, releases, &global, &exit_code] {
    exit_code = run_validate(*options, *releases, global);
  });
}

}  // namespace gpuctl::cli
