// `gpuctl report`: a cluster or a fleet on one page, for people who do not read blueprints.
#include <algorithm>
#include <memory>
#include <mutex>

#include "base/output_tree.hpp"
#include "cli/apply_target.hpp"
#include "cli/batch.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/day.hpp"
#include "cli/fleets.hpp"
#include "cli/planned.hpp"
#include "cli/pricing.hpp"
#include "cli/report_files.hpp"
#include "cli/terminal.hpp"
#include "effects/report.hpp"
#include "report/costs.hpp"
#include "report/html.hpp"
#include "report/markdown.hpp"

namespace gpuctl::cli {

namespace {

constexpr const char* kMarkdownPage = "markdown";

struct PageOptions {
  ApplyOptions plan;  // with the blueprints, the costs, and the repository if there is one
  std::string output = "html";
  std::string file;
};

// The commit that the repository is at, which plans are made against.
class Commit {
 public:
  // Nothing after shown errors.
  static std::unique_ptr<Commit> open(const ApplyOptions& options, Report& report) {
    auto made = std::make_unique<Commit>();
    git::TimeLimits limits;
    limits.total = std::chrono::seconds(options.timeout);
    limits.idle = std::chrono::seconds(options.idle_timeout);
    made->target_ = make_target({options.repository, options.branch, limits, false, true}, report);
    if (!made->target_) return nullptr;
    diag::Sink sink;
    const bool seen = made->target_->look(sink);
    report.show(sink, diag::Sources());
    if (!seen || sink.has_errors()) return nullptr;
    made->start_ = made->target_->head().start;
    return made;
  }

  std::optional<std::string> read(const std::string& path, diag::Sink& sink) {
    if (start_.empty()) return std::nullopt;
    const std::lock_guard<std::mutex> guard(one_at_a_time_);
    return target_->repository()->read(start_, path, sink);
  }

  Base base() {
    return {[this](const std::string& directory, diag::Sink& sink) {
              if (start_.empty()) return std::map<std::string, std::string>();
              const std::lock_guard<std::mutex> guard(one_at_a_time_);
              return target_->repository()->list(start_, directory, sink);
            },
            [this](const std::string& path, diag::Sink& sink) { return read(path, sink); }};
  }

 private:
  std::unique_ptr<Target> target_;
  std::string start_;
  std::mutex one_at_a_time_;
};

bool write(const PageOptions& options, const std::string& text, const GlobalOptions& global,
           Report& report) {
  if (options.file.empty()) return print(text, global);
  diag::Sink sink;
  if (const auto error = write_file(options.file, text)) {
    sink.error(kUnwritable, diag::kNoOrigin,
               "cannot write `" + shown(options.file) + "`: " + error->text)
        .suggest("name a file in a directory that you may write to");
  }
  report.show(sink, diag::Sources());
  return !sink.has_errors();
}

// Where pages of codes are for whoever reads the page: an address of the web. Those that are
// installed beside this program are on this machine alone.
std::string linked_codes() {
  std::string address = published_pages();
  const bool is_web = address.starts_with("https://") || address.starts_with("http://");
  return is_web ? address : std::string();
}

// What clusters of a page are made with.
struct Ingredients {
  const PageOptions& options;
  Commit* commit;  // nullptr: nobody asked for plans
  Pricing& pricing;
  report::Gatherer& gatherer;
};

// What the page shows of a run. What is found on the way goes to the sink of the run.
report::Cluster cluster_of(Result& result, const Ingredients& from) {
  report::Cluster out = from.gatherer.cluster_of(result);
  if (const auto estimate = from.pricing.estimate(result)) {
    out.cost = report::shown(*estimate, *result.sources);
  }
  if (from.commit != nullptr && result.output && !result.sink.has_errors()) {
    const Base base = from.commit->base();
    const std::optional<cost::Change> change = from.pricing.change(result, base);
    Planned planned = plan_cluster(result, base, from.options.plan, nullptr);
    if (!planned.findings.has_errors()) {
      out.plan = report::plan_of(planned.effects);
      if (!planned.changes.empty()) out.plan->costs = change;
    }
    result.sink.take(std::move(planned.findings));
  }
  const bool strict = from.options.plan.inputs.strict;
  out.accepted = !result.sink.has_errors() && !(strict && result.sink.has_warnings());
  out.findings = subject_of(result).findings;
  std::stable_sort(out.findings.begin(), out.findings.end(),
                   [](const auto& a, const auto& b) { return a.severity < b.severity; });
  return out;
}

int run_report(PageOptions options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  BlueprintOptions& inputs = options.plan.inputs;
  std::optional<Request> request = make_request(inputs, report);
  if (!request || !expand_fleets(inputs, *request, *knowledge, report)) return kFindings;
  std::unique_ptr<Commit> commit;
  diag::Sink unread;
  if (!options.plan.repository.empty()) {
    commit = Commit::open(options.plan, report);
    if (commit == nullptr) return kFindings;
    request->earlier = [&](const std::string& path) { return commit->read(path, unread); };
  }
  OwnCosts own;
  if (!own.read(options.plan.costs.costs, *knowledge, report)) return kFindings;
  Pricing pricing(*knowledge, own, options.plan.costs.month());
  report::Page page{chosen_day(inputs.date), {}, pricing.hours(), linked_codes()};
  page.clusters.resize(inputs.blueprints.size());
  report::Gatherer gatherer(*knowledge);
  std::vector<Shown> further(inputs.blueprints.size());  // what rows and plans have found
  const Consume consume = [&](std::size_t index, Result& result) {
    const std::size_t shown_before = result.sink.all().size();
    page.clusters[index] = cluster_of(result, {options, commit.get(), pricing, gatherer});
    diag::Sink more;
    for (std::size_t i = shown_before; i < result.sink.all().size(); ++i) {
      more.add(result.sink.all()[i]);
    }
    further[index] = report.prepare(more, *result.sources, result.blueprint_file);
  };
  const bool shared = knowledge->library().has_overlays();
  const std::vector<Finished> clusters =
      run_all(inputs.blueprints, *request, *knowledge, shared ? 1 : thread_count(inputs.jobs),
              report, consume);
  bool good = show_all(clusters, inputs.strict, report);
  for (const Shown& shown : further) report.show(shown);
  for (const report::Cluster& cluster : page.clusters) good = good && cluster.accepted;
  report.show(unread, diag::Sources());
  report.show(pricing.faults(), knowledge->library().sources());
  own.report_doubtful(report);
  good = good && report.errors() == 0 && !(inputs.strict && report.warnings() != 0);
  const std::string text =
      options.output == kMarkdownPage ? report::markdown(page) : report::html(page);
  if (global.result->wanted()) {
    record_verdicts(clusters, inputs.strict, *global.result);
    if (options.file.empty()) global.result->set("page", text);
  }
  return write(options, text, global, report) && good ? kOk : kFindings;
}

RunFunction set_up_report(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<PageOptions>();
  options->plan.dry_run = true;
  options->plan.inputs.add_to(command);
  options->plan.costs.add_to(command);
  command
      .add_option("-o,--output", options->output,
                  "Form: html (one page, complete in itself) or markdown")
      .one_of({"html", kMarkdownPage})
      .capture_default_str();
  command
      .add_option("--output-file", options->file,
                  "File to write, in place of standard output; it appears whole or not at all")
      .type_name("FILE");
  command
      .add_option("--repo", options->plan.repository,
                  "Repository that plans are made against: a directory or an address; nothing is "
                  "committed")
      .type_name("REPO");
  return [options, &global] { return run_report(*options, global); };
}

}  // namespace

Command report_command() {
  return {
      "report", "Show a cluster or a fleet on one page, for people",
      "Pools and what their nodes offer, MIG layouts, versions with the ends of their support,\n"
      "licences and quotas, costs and power, findings, missing facts and networks; with --repo\n"
      "also what a commit would do. The page needs nothing else: no script, no picture from\n"
      "elsewhere. The same inputs and the same --date give the same bytes.\n\n"
      "Blueprints with errors give a page of their findings, and exit code 1.\n\n"
      "Example:\n"
      "  gpuctl report cluster.yaml --output-file report.html\n"
      "  gpuctl report fleet.yaml --stage prod --repo fleet --output-file prod.html\n"
      "  gpuctl report cluster.yaml --costs costs.yaml --hours 200 --output-file report.html\n"
      "  gpuctl report cluster.yaml --date 2026-12-31 -o markdown\n",
      set_up_report};
}

}  // namespace gpuctl::cli
