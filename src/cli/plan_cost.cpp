#include "cli/plan_cost.hpp"

#include "cli/cost_report.hpp"
#include "cli/cost_tree.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::string_view kManifest = ".yaml";

// The documents of files; what is no YAML is left out.
class Documents {
 public:
  void add(const std::string& path, std::string text) {
    if (!path.ends_with(kManifest)) return;
    diag::Sink unsaid;
    const auto read = yaml::read_all(sources_.add_file(path, std::move(text)), sources_, arena_,
                                     unsaid, yaml::kubectl_limits());
    if (!read) return;
    for (const yaml::Node& document : *read) {
      if (document.get("kind").is_string()) documents_.push_back(document);
    }
  }

  yaml::Node list() { return arena_.list(documents_); }

 private:
  diag::Sources sources_;
  yaml::Arena arena_;
  std::vector<yaml::Node> documents_;
};

}  // namespace

void PlanCosts::add(const Result& result, const Base& base) {
  if (!result.output) return;
  const std::string& directory = result.output->files.directory;
  Documents before;
  diag::Sink unsaid;
  for (const auto& [path, blob] : base.list(directory, unsaid)) {
    if (std::optional<std::string> text = base.read(path, unsaid))
      before.add(path, std::move(*text));
  }
  Documents after;
  for (const auto& [path, content] : result.output->files.files) after.add(path, content);
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  const catalog::Platform& platform = *result.opened->compiled->platform;
  const blueprint::Blueprint& written = result.opened->blueprint;
  const derive::Inputs inputs{written.metadata, written.spec, result.derived->cluster,
                              platform.catalog, result.loaded->facts};
  const cost::Basis basis{tariffs_.platform(platform, faults_), tariffs_, own_.figures, hours_};
  const auto machines_of = [&](Documents& documents) {
    return cost::estimate_committed(result.cluster(), basis, inputs, documents.list(),
                                    *result.arena);
  };
  const cost::Estimate old_machines = machines_of(before);
  const cost::Estimate machines = machines_of(after);
  CostChange change{old_machines.month, machines.month};
  // Others make the machines, or they may be among what waits for facts.
  const bool none = old_machines.parts.empty() && machines.parts.empty();
  for (std::size_t i = 0; i < cost::kScales; ++i) {
    if (none || !result.rendered().withheld.empty()) change.after[i].complete = false;
    if (none && result.loaded->lock() != nullptr) change.before[i].complete = false;
  }
  clusters_[result.cluster()] = change;
}

std::string PlanCosts::text(const std::vector<Planned>& plans, const std::string& form,
                            yaml::Arena& arena) const {
  Listing listing;
  listing.titles = {"CLUSTER", "AT", "BEFORE", "AFTER", "DIFFERENCE"};
  for (const Planned& planned : plans) {
    const auto found = clusters_.find(planned.cluster);
    if (found == clusters_.end() || planned.changes.empty()) continue;
    add_change(planned.cluster, found->second.before, found->second.after, hours_, listing);
  }
  if (listing.lines.empty()) return {};
  const bool markdown = form == "markdown";
  const std::string heading = "what machines cost, " + own_.figures.currency() + " a month of " +
                              std::to_string(hours_.month) + " hours:\n";
  return (markdown ? "\n" + heading + "\n" + markdown_of(listing)
                   : heading + text_of({listing}, kTable, arena));
}

yaml::Node PlanCosts::rows(const std::vector<Planned>& plans, yaml::Arena& arena) const {
  std::vector<yaml::Node> out;
  for (const Planned& planned : plans) {
    const auto found = clusters_.find(planned.cluster);
    if (found == clusters_.end() || planned.changes.empty()) continue;
    yaml::MapBuilder row;
    set_cluster(planned.cluster, row, arena);
    row.set(arena, "currency", arena.string(own_.figures.currency()));
    row.set(arena, "before", figures_tree(found->second.before, hours_, arena));
    row.set(arena, "after", figures_tree(found->second.after, hours_, arena));
    out.push_back(row.build(arena));
  }
  return arena.list(out);
}

}  // namespace gpuctl::cli
