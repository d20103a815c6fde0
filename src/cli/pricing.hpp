// What runs cost: estimates by one set of price lists and own figures, for all commands that show
// them.
#pragma once

#include <mutex>
#include <optional>

#include "cli/cost_options.hpp"
#include "cli/planned.hpp"
#include "cost/estimate.hpp"

namespace gpuctl::cli {

class Pricing {
 public:
  /// Opens what knowledge has of costs; no run reads that otherwise. `own` must outlive this.
  Pricing(Knowledge& knowledge, OwnCosts& own, cost::Hours hours)
      : own_(own.figures), hours_(std::move(hours)), tariffs_(knowledge.library()) {}

  /// What the cluster of a run costs and draws; nothing after errors. Thread-safe.
  std::optional<cost::Estimate> estimate(const Result& result);

  /// What a commit does to the machines of a cluster: those of `base`, and those of the files of
  /// the run, before they are taken out of it. Of files that cannot be read nothing is said here:
  /// whoever plans says it. Nothing for a run without files. Thread-safe.
  std::optional<cost::Change> change(const Result& result, const Base& base);

  const cost::Hours& hours() const { return hours_; }
  const std::string& currency() const { return own_.currency(); }
  /// Of what is laid over the rows on costs.
  const diag::Sink& faults() const { return faults_; }

 private:
  cost::OwnFigures& own_;
  cost::Hours hours_;
  cost::Tariffs tariffs_;
  std::mutex one_at_a_time_;
  diag::Sink faults_;
};

}  // namespace gpuctl::cli
