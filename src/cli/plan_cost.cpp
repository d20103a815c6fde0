#include "cli/plan_cost.hpp"

#include "cli/cost_report.hpp"
#include "cli/cost_tree.hpp"

namespace gpuctl::cli {

void PlanCosts::add(const Result& result, const Base& base) {
  const std::optional<cost::Change> change = pricing_.change(result, base);
  if (!change) return;
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  clusters_[result.cluster()] = *change;
}

std::string PlanCosts::text(const std::vector<Planned>& plans, const std::string& form,
                            yaml::Arena& arena) const {
  Listing listing;
  listing.titles = {"CLUSTER", "AT", "BEFORE", "AFTER", "DIFFERENCE"};
  for (const Planned& planned : plans) {
    const auto found = clusters_.find(planned.cluster);
    if (found == clusters_.end() || planned.changes.empty()) continue;
    add_change(planned.cluster, found->second.before, found->second.after, pricing_.hours(),
               listing);
  }
  if (listing.lines.empty()) return {};
  const bool markdown = form == "markdown";
  const std::string heading = "what machines cost, " + pricing_.currency() + " a month of " +
                              std::to_string(pricing_.hours().month) + " hours:\n";
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
    row.set(arena, "currency", arena.string(pricing_.currency()));
    row.set(arena, "before", figures_tree(found->second.before, pricing_.hours(), arena));
    row.set(arena, "after", figures_tree(found->second.after, pricing_.hours(), arena));
    out.push_back(row.build(arena));
  }
  return arena.list(out);
}

}  // namespace gpuctl::cli
