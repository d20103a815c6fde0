#include <memory>

#include "cli/command.hpp"
#include "plan/plan.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

int run_validate(const BlueprintOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const std::optional<Request> request = make_request(options, report);
  if (!request) return kFindings;
  const std::vector<Result> results =
      run_all(options.blueprints, *request, *knowledge, thread_count(options.jobs));
  const bool good = show_results(results, options.strict, report);
  show_withheld(results, report);
  std::string out;
  for (const Result& result : results) {
    const bool accepted =
        !result.sink.has_errors() && !(options.strict && result.sink.has_warnings());
    out += shown(result.blueprint_file) + ": " + (accepted ? "ok" : "refused");
    if (accepted) {
      out += " (" + result.blueprint->stage + "/" + result.blueprint->name + ", " +
             std::to_string(result.rendered.documents.size()) + " document" +
             (result.rendered.documents.size() == 1 ? ")" : "s)");
    }
    out += "\n";
    if (!global.verbose) continue;
    for (const derive::Choice& choice : result.choices) {
      out += "  " + choice.path + " = " + yaml::emit_json(choice.value) +
             (choice.because.empty() ? "" : ": " + choice.because) +
             (choice.kept ? " (kept)" : "") + "\n";
    }
  }
  if (!print(out, global)) return kFindings;
  return good ? kOk : kFindings;
}

}  // namespace

void add_validate(CLI::App& app, const GlobalOptions& global, int& exit_code) {
  CLI::App* command = app.add_subcommand("validate", "Check blueprints without writing anything");
  auto options = std::make_shared<BlueprintOptions>();
  options->add_to(*command);
  command->footer(
      "Runs every offline check: schema, derivation, rules, rendering, and with --crds the\n"
      "published schemas of the operators. Exit code 0: accepted, 1: refused.\n\n"
      "Example:\n"
      "  gpuctl validate cluster.yaml\n"
      "  gpuctl validate --strict --crds crds/ fleet/*.yaml\n");
  command->callback([options, &global, &exit_code] { exit_code = run_validate(*options, global); });
}

}  // namespace gpuctl::cli
