// What a report says, as plain data: nothing of it points into a run.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cost/estimate.hpp"
#include "diag/finding.hpp"
#include "effects/report.hpp"
#include "gpu/mig.hpp"
#include "pipeline/run.hpp"
#include "report/rows.hpp"

namespace gpuctl::report {

struct Detail {
  std::string name;
  std::string value;
};

/// An extended resource: how many one node offers, and all nodes at least and at most.
struct Offer {
  std::string resource;
  std::string node;
  std::string least;
  std::string most;
};

struct Pool {
  std::string name;
  std::vector<Detail> details;
  std::vector<Offer> offers;
  std::vector<std::string> taints;
};

/// A layout of MIG instances, and on how many GPUs of a node it is.
struct Layout {
  std::string pool;
  std::string title;
  std::string gpus;
  gpu::MigClass gpu;
  gpu::MigPlacement placed;
};

/// A pinned component. Days are absent where nobody knows them.
struct Version {
  std::string component;
  std::string version;
  std::string note;
  std::optional<std::chrono::sys_days> starts;
  std::optional<std::chrono::sys_days> ends;
};

/// What must be there: a licence, a quota.
struct Need {
  std::string kind;
  std::string name;
  std::string amount;
  std::string note;
};

struct Network {
  std::string name;
  std::string kind;
  std::vector<std::string> ranges;
  std::vector<std::string> pools;
};

/// A fact that documents wait for.
struct Missing {
  std::string fact;
  std::string obtain;
  std::size_t documents = 0;
};

/// What meets a requirement of a checklist: an object, or something that the platform has.
struct Mechanism {
  std::string requirement;  // its id
  std::string name;
  std::string note;
  bool applies = true;  // false: the requirement does not; `note` says why
};

/// A requirement of a checklist.
struct Requirement {
  std::string id;
  std::string title;
  std::string level;          // "MUST"
  bool demonstrated = false;  // it asks to see something work, which no manifest shows
  std::string lacking;        // what would meet it
  std::vector<Mechanism> mechanisms;

  /// What the manifests say of it: "mechanism present", "needs a run", "not applicable", "missing".
  std::string_view verdict() const;
};

struct Checklist {
  std::string title;
  std::string note;
  std::vector<Requirement> requirements;
};

/// What a commit would do to an object.
struct Disturbance {
  std::string object;
  std::string effect;
  std::string reason;
  std::string extent;
};

struct Plan {
  std::string headline;
  std::string files;
  std::vector<Disturbance> disturbances;  // the worst first
  std::optional<cost::Change> costs;      // of the machines that a commit changes
};

struct Cluster {
  std::string name;  // "stage/name", or the file where the cluster is not known
  bool accepted = false;
  std::vector<Detail> details;
  std::vector<Pool> pools;
  std::vector<Layout> layouts;
  std::vector<Version> versions;
  std::vector<Need> needs;
  std::vector<Network> networks;
  std::vector<Checklist> checklists;
  std::vector<diag::Finding> findings;
  std::vector<Missing> missing;
  std::optional<Plan> plan;
  std::optional<cost::Estimate> cost;
};

/// All of a page.
struct Page {
  std::chrono::sys_days day;
  std::vector<Cluster> clusters;
  cost::Hours hours;       // of a month, as estimates were asked for
  std::string code_pages;  // address that pages of codes are below; empty: codes are no links

  /// Where the page of a code is; empty: nobody said.
  std::string page_of(const std::string& code) const {
    return code_pages.empty() ? std::string() : code_pages + code + ".md";
  }
};

/// Makes clusters of runs, on several threads unless something is laid over the knowledge.
class Gatherer {
 public:
  explicit Gatherer(pipeline::Knowledge& knowledge);

  /// What a run shows, as far as it came: without a derived tree only name and missing facts.
  /// Findings, plan and cost are for others to add. No text holds a secret that the run knows.
  /// Faults of what is laid over the rows go to the sink of the run.
  Cluster cluster_of(pipeline::Result& result);

 private:
  std::shared_ptr<const Rows> rows_of(const pipeline::Compiled& compiled, diag::Sink& sink);
  void run_rows(pipeline::Result& result, Cluster& out);

  pipeline::Knowledge& knowledge_;
  std::mutex one_at_a_time_;
  std::map<std::string, std::shared_ptr<const Rows>> rows_;  // by platform
};

/// What a plan says of a cluster.
Plan plan_of(const effects::ClusterChange& change);

}  // namespace gpuctl::report
