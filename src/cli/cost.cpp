// `gpuctl cost`: what clusters cost a month, and what they draw.
#include <memory>

#include "cli/batch.hpp"
#include "cli/command.hpp"
#include "cli/cost_options.hpp"
#include "cli/cost_report.hpp"
#include "cli/cost_tree.hpp"
#include "cli/fleets.hpp"
#include "cli/pricing.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

using cost::Estimate;

constexpr const char* kMarkdown = "markdown";

struct EstimateOptions {
  BlueprintOptions inputs;
  CostOptions costs;
  std::vector<std::string> compared;
  std::string output = kTable;
};

// All clusters of some blueprints and fleets. Nothing after shown errors.
std::optional<std::vector<Estimate>> estimate_all(BlueprintOptions inputs, Knowledge& knowledge,
                                                  Pricing& pricing, Report& report) {
  std::optional<Request> request = make_request(inputs, report);
  if (!request || !expand_fleets(inputs, *request, knowledge, report)) return std::nullopt;
  std::vector<std::optional<Estimate>> estimates(inputs.blueprints.size());
  std::vector<Finished> clusters = run_all(
      inputs.blueprints, *request, knowledge, thread_count(inputs.jobs), report,
      [&](std::size_t index, Result& result) { estimates[index] = pricing.estimate(result); });
  for (Finished& cluster : clusters) {
    cluster.findings.leave_out_notes();
    cluster.withheld = {};
  }
  const bool good = show_all(clusters, inputs.strict, report);
  report.show(pricing.faults(), knowledge.library().sources());
  if (!good || pricing.faults().has_errors()) return std::nullopt;
  std::vector<Estimate> out;
  for (std::optional<Estimate>& one : estimates) {
    if (one) out.push_back(std::move(*one));
  }
  return out;
}

std::string comparison_text(const Listing& listing, const std::string& form, yaml::Arena& arena) {
  return text_of({listing}, form, arena);
}

int show_costs(const EstimateOptions& options, const std::vector<Estimate>& these,
               const std::vector<Estimate>& others, const cost::Hours& hours,
               const GlobalOptions& global) {
  yaml::Arena& arena = global.result->arena();
  yaml::MapBuilder tree(cost_tree(these, hours, arena));
  Listing compared;
  if (!options.compared.empty()) {
    compared = comparison(these, others, hours, arena);
    tree.set(arena, "compared", arena.list(compared.rows));
  }
  for (const yaml::Entry& entry : tree.entries()) {
    global.result->set(entry.key.as_string(), entry.value);
  }
  const yaml::Node document = tree.build(arena);
  if (options.output == "json") {
    return print(yaml::emit_json(document) + "\n", global) ? kOk : kFindings;
  }
  if (options.output == "yaml") return print(yaml::emit(document), global) ? kOk : kFindings;
  if (!options.compared.empty()) {
    return print(comparison_text(compared, options.output, arena), global) ? kOk : kFindings;
  }
  if (options.output == "csv") {
    return print(text_of({cost_rows(these, hours, arena)}, "csv", arena), global) ? kOk : kFindings;
  }
  return print(cost_text(these, hours, options.output, arena), global) ? kOk : kFindings;
}

int run_cost(const EstimateOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  OwnCosts own;
  if (!own.read(options.costs.costs, *knowledge, report)) return kFindings;
  Pricing pricing(*knowledge, own, options.costs.month());
  const auto these = estimate_all(options.inputs, *knowledge, pricing, report);
  if (!these) return kFindings;
  std::vector<Estimate> others;
  if (!options.compared.empty()) {
    BlueprintOptions inputs = options.inputs;
    inputs.blueprints = options.compared;
    auto found = estimate_all(inputs, *knowledge, pricing, report);
    if (!found) return kFindings;
    others = std::move(*found);
  }
  own.report_doubtful(report);
  if (options.inputs.strict && report.warnings() != 0) return kFindings;
  return show_costs(options, *these, others, pricing.hours(), global);
}

RunFunction set_up_cost(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<EstimateOptions>();
  options->inputs.add_to(command);
  options->costs.add_to(command);
  command
      .add_option("--compare", options->compared,
                  "Blueprint or fleet to compare with: what it costs more; may be repeated")
      .type_name("FILE")
      .allow_extra_args(false);
  command.add_option("-o,--output", options->output, "Form; wide: a table with all columns")
      .one_of({kTable, "wide", "json", "yaml", "csv", kMarkdown})
      .type_name("FORM");
  return [options, &global] { return run_cost(*options, global); };
}

}  // namespace

Command cost_command() {
  return {"cost", "Say what clusters cost a month, and what power they draw",
          "By list prices of a known day, at the smallest and the largest scale of each pool; and\n"
          "with --hours in between. What is not known is said to be unknown, and a sum with such\n"
          "a part begins with \"at least\". Machines of your own, power, licences and discounts\n"
          "come from a file that you give.\n\n"
          "Example:\n"
          "  gpuctl cost cluster.yaml --hours 200\n"
          "  gpuctl cost cluster.yaml --compare cheaper.yaml\n"
          "  gpuctl cost fleet.yaml --stage prod --costs costs.yaml -o csv\n",
          set_up_cost};
}

}  // namespace gpuctl::cli
