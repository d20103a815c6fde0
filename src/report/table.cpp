#include "report/table.hpp"

#include "base/date.hpp"
#include "base/text.hpp"
#include "report/drawings.hpp"

namespace gpuctl::report {

namespace {

std::string day(const std::optional<std::chrono::sys_days>& known) {
  return known ? base::day_text(*known) : "not known";
}

// What meets a requirement; why it does not apply; or what would meet it.
std::string reason_of(const Requirement& requirement) {
  std::string out;
  for (const Mechanism& one : requirement.mechanisms) {
    const std::string note =
        one.note.empty() || one.name.empty() ? one.note : " (" + one.note + ")";
    out += (out.empty() ? "" : "; ") + one.name + note;
  }
  return out.empty() ? "needs " + requirement.lacking : out;
}

}  // namespace

Table offers_table(const Pool& pool) {
  Table out{"Resources",
            "Resources per node and in total, pool " + pool.name,
            {"Resource", "Per node", "Min", "Max"},
            {},
            1};
  for (const Offer& one : pool.offers) {
    out.rows.push_back({one.resource, one.node, one.least, one.most});
  }
  return out;
}

Table layouts_table(const Cluster& cluster) {
  Table out{"MIG layouts", "MIG layouts", {"Pool", "GPU", "GPUs per node", "Instances", "Slices"}};
  for (const Layout& one : cluster.layouts) {
    out.rows.push_back({one.pool, one.title, one.gpus, places_of(one), words_of(one)});
  }
  return out;
}

Table versions_table(const Cluster& cluster, std::chrono::sys_days today) {
  Table out{"Versions and support",
            "Components",
            {"Component", "Version", "Released", "Support ends", "Remarks"}};
  for (const Version& one : cluster.versions) {
    const bool over = one.ends && *one.ends < today;
    out.rows.push_back({one.component, one.version, day(one.starts),
                        day(one.ends) + (over ? ", ended" : ""), one.note});
  }
  return out;
}

Table needs_table(const Cluster& cluster) {
  Table out{
      "Licences and quotas", "Required licences and quotas", {"Name", "Kind", "Amount", "For"}};
  for (const Need& one : cluster.needs) {
    out.rows.push_back({one.name, one.kind, one.amount, one.note});
  }
  return out;
}

Table missing_table(const Cluster& cluster) {
  Table out{
      "Missing facts", "Facts that documents wait for", {"Fact", "Documents", "How to get it"}};
  for (const Missing& one : cluster.missing) {
    out.rows.push_back({one.fact, std::to_string(one.documents), one.obtain});
  }
  return out;
}

Table networks_table(const Cluster& cluster) {
  Table out{"Networks", "Networks", {"Name", "Kind", "Ranges", "Pools"}};
  for (const Network& one : cluster.networks) {
    out.rows.push_back(
        {one.name, one.kind, base::join(one.ranges, ", "), base::join(one.pools, ", ")});
  }
  return out;
}

Table checklist_table(const Checklist& list) {
  Table out{list.title, list.title, {"Item", "Level", "Verdict", "Mechanism or reason"}};
  for (const Requirement& one : list.requirements) {
    out.rows.push_back(
        {one.title + " (" + one.id + ")", one.level, std::string(one.verdict()), reason_of(one)});
  }
  return out;
}

Table plan_table(const Plan& plan) {
  Table out{
      "What the commit does", "What the commit does", {"Object", "Effect", "Extent", "Reason"}};
  for (const Disturbance& one : plan.disturbances) {
    out.rows.push_back({one.object, one.effect, one.extent, one.reason});
  }
  return out;
}

}  // namespace gpuctl::report
