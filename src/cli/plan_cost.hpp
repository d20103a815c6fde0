// What a plan does to what machines cost: those of the commit that it starts from, and those that
// it would leave.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cli/cost_options.hpp"
#include "cli/planned.hpp"
#include "cost/estimate.hpp"

namespace gpuctl::cli {

/// Machines before and after.
struct CostChange {
  cost::Figures before;
  cost::Figures after;
};

class PlanCosts {
 public:
  /// Opens what knowledge has of costs; no run reads that otherwise. `own` must outlive this.
  PlanCosts(Knowledge& knowledge, OwnCosts& own, cost::Hours hours)
      : own_(own), hours_(std::move(hours)), tariffs_(knowledge.library()) {}

  /// Works out a cluster from its files, before they are taken out of the result. Of files that
  /// cannot be read nothing is said here: whoever plans says it. Thread-safe.
  void add(const Result& result, const Base& base);

  /// A table of the clusters that the plan changes; empty when it changes none.
  std::string text(const std::vector<Planned>& plans, const std::string& form,
                   yaml::Arena& arena) const;
  /// The same as a list of rows.
  yaml::Node rows(const std::vector<Planned>& plans, yaml::Arena& arena) const;
  const diag::Sink& faults() const { return faults_; }

 private:
  OwnCosts& own_;
  cost::Hours hours_;
  cost::Tariffs tariffs_;
  std::mutex one_at_a_time_;
  diag::Sink faults_;
  std::map<std::string, CostChange> clusters_;
};

}  // namespace gpuctl::cli
