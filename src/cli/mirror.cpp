// `gpuctl mirror`: all that clusters take from elsewhere, to be copied to where there is no way
// out.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "cli/batch.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/fleets.hpp"
#include "pipeline/air_gap.hpp"

namespace gpuctl::cli {

namespace {

using render::Supplies;

constexpr const char* kImageSet = "imageset";
constexpr const char* kList = "list";

struct MirrorOptions {
  BlueprintOptions inputs;
  std::string output;  // empty: an image set where the platform has that form, otherwise a list
};

// Templates that write a file for a program which copies; the same for clusters of one kind.
std::set<std::string> forms_of(const Result& result) {
  std::set<std::string> out;
  for (const auto& made_by : *result.opened->compiled->templates) {
    if (made_by->phase == render::Phase::mirror) out.insert(made_by->path);
  }
  return out;
}

// What is gathered while each cluster is in memory; for several threads.
class Gathering {
 public:
  Gathering(std::size_t clusters, const Report& report) : report_(report), findings_(clusters) {}

  void consume(std::size_t index, const Result& result) {
    if (result.sink.has_errors() || !result.output) return;
    diag::Sink sink;
    const Supplies found =
        pipeline::supplies_of(*result.opened, *result.loaded, *result.derived, result.rendered(),
                              {*result.sources, *result.arena, sink});
    findings_[index] = report_.prepare(sink, *result.sources);
    const std::lock_guard<std::mutex> guard(one_at_a_time_);
    supplies_.merge(found);
    forms_.insert(forms_of(result));
  }

  const Supplies& supplies() const { return supplies_; }
  const std::set<std::set<std::string>>& forms() const { return forms_; }
  const std::vector<Shown>& findings() const { return findings_; }

 private:
  const Report& report_;
  std::vector<Shown> findings_;  // of each cluster
  std::mutex one_at_a_time_;
  Supplies supplies_;
  std::set<std::set<std::string>> forms_;
};

// One supply a line: its kind, then what it is called where it is pulled.
std::string list_of(const Supplies& supplies) {
  std::string out;
  for (const render::SupplyKind& kind : render::supply_kinds()) {
    const std::string_view one = kind.name.substr(0, kind.name.size() - 1);
    for (const auto& [texts, wanted_by] : supplies.of(kind.name)) {
      out += one;
      for (const std::string& text : texts) out += " " + (text.empty() ? "-" : shown(text));
      out += "\n";
    }
  }
  return out;
}

bool is_empty(const Supplies& supplies) {
  const auto kinds = render::supply_kinds();
  return std::all_of(kinds.begin(), kinds.end(), [&](const render::SupplyKind& kind) {
    return supplies.of(kind.name).empty();
  });
}

// The files that the platform has for programs which copy, one after the other. They are made of
// all supplies together, with the first cluster around them.
std::optional<std::string> image_set(const MirrorOptions& options, const Request& request,
                                     const Supplies& supplies, Knowledge& knowledge,
                                     Report& report) {
  Result result = pipeline::run(options.inputs.blueprints.front(), request, knowledge);
  diag::Sink sink;
  const render::Cluster cluster =
      pipeline::cluster_of(*result.opened, *result.loaded, *result.derived);
  const render::Rendered files =
      render::render_phase(*result.opened->compiled->templates, render::Phase::mirror, cluster,
                           supplies.tree(false, *result.arena), result.context().into(sink));
  report.show(sink, *result.sources);
  if (sink.has_errors()) return std::nullopt;
  std::string out;
  for (const render::Document& file : files.documents) {
    out += (out.empty() ? "" : "---\n") + render::bytes(file);
  }
  return out;
}

// The form that is wanted; nothing after GPU0013.
std::optional<std::string> form_of(const MirrorOptions& options, const Gathering& found,
                                   diag::Sink& sink) {
  const bool one = found.forms().size() == 1 && !found.forms().begin()->empty();
  if (options.output.empty()) return one ? kImageSet : kList;
  if (options.output != kImageSet || one) return options.output;
  sink.error(kNoImageSet, diag::kNoOrigin,
             found.forms().size() > 1 ? "these clusters have no form of an image set in common"
                                      : "this platform has no form of an image set")
      .expect("`-o list`, `-o json`, or only clusters whose platform has one");
  return std::nullopt;
}

int run_mirror(MirrorOptions options, const GlobalOptions& global) {
  if (options.output == "json") global.result->request();
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  std::optional<Request> request = make_request(options.inputs, report);
  if (!request || !expand_fleets(options.inputs, *request, *knowledge, report)) return kFindings;
  request->despite_gap = true;  // the list is what mirrors are filled by
  Gathering found(options.inputs.blueprints.size(), report);
  const std::vector<Finished> clusters =
      run_all(options.inputs.blueprints, *request, *knowledge, thread_count(options.inputs.jobs),
              report, [&](std::size_t index, Result& result) { found.consume(index, result); });
  bool good = show_all(clusters, options.inputs.strict, report);
  for (const Shown& shown : found.findings()) report.show(shown);
  good = good && report.errors() == 0 && !(options.inputs.strict && report.warnings() != 0);
  ResultDocument& result = *global.result;
  if (result.wanted()) {
    record_verdicts(clusters, options.inputs.strict, result);
    const yaml::Node tree = found.supplies().tree(true, result.arena());
    for (const yaml::Entry& kind : tree.entries()) result.set(kind.key.as_string(), kind.value);
  }
  if (!good) return kFindings;
  diag::Sink sink;
  const std::optional<std::string> form = form_of(options, found, sink);
  report.show(sink, diag::Sources());
  if (!form) return kUsageError;
  if (is_empty(found.supplies())) report.say("nothing is to be copied");
  if (*form != kImageSet) return print(list_of(found.supplies()), global) ? kOk : kFindings;
  const auto text = image_set(options, *request, found.supplies(), *knowledge, report);
  return text && print(*text, global) ? kOk : kFindings;
}

RunFunction set_up_mirror(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<MirrorOptions>();
  options->inputs.add_to(command);
  command
      .add_option("-o,--output", options->output,
                  "Form: imageset (for the program that copies; default where the platform has "
                  "one), list (default elsewhere), json (one document)")
      .one_of({kImageSet, kList, "json"});
  return [options, &global] { return run_mirror(*options, global); };
}

}  // namespace

Command mirror_command() {
  return {
      "mirror", "List every image, chart and operator that clusters pull, to be copied",
      "Everything that the output of the blueprints needs from elsewhere: releases, packages of\n"
      "operators with catalogue and channel, charts, images. Several clusters make one set. What\n"
      "operators bring is in their catalogue, and so is in no list of images.\n\n"
      "Example:\n"
      "  gpuctl mirror cluster.yaml > imageset-config.yaml\n"
      "  gpuctl mirror fleet.yaml --stage prod -o list\n",
      set_up_mirror};
}

}  // namespace gpuctl::cli
