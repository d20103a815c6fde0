// What a plan does to what machines cost: those of the commit that it starts from, and those that
// it would leave.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "cli/planned.hpp"
#include "cli/pricing.hpp"

namespace gpuctl::cli {

class PlanCosts {
 public:
  PlanCosts(Knowledge& knowledge, OwnCosts& own, cost::Hours hours)
      : pricing_(knowledge, own, std::move(hours)) {}

  /// Works out a cluster from its files, before they are taken out of the result. Thread-safe.
  void add(const Result& result, const Base& base);

  /// A table of the clusters that the plan changes; empty when it changes none.
  std::string text(const std::vector<Planned>& plans, const std::string& form,
                   yaml::Arena& arena) const;
  /// The same as a list of rows.
  yaml::Node rows(const std::vector<Planned>& plans, yaml::Arena& arena) const;
  const diag::Sink& faults() const { return pricing_.faults(); }

 private:
  Pricing pricing_;
  std::mutex one_at_a_time_;
  std::map<std::string, cost::Change> clusters_;
};

}  // namespace gpuctl::cli
