// Tables of a page as data, which both forms of the page take from here.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "report/model.hpp"

namespace gpuctl::report {

using Cells = std::vector<std::string>;

/// The first column names the row.
struct Table {
  static constexpr std::size_t kNoNumbers = 99;

  std::string heading;
  std::string caption;
  Cells heads;
  std::vector<Cells> rows;
  std::size_t numbers_from = kNoNumbers;  // the first column of numbers
};

/// What a node of a pool offers, and the whole pool.
Table offers_table(const Pool& pool);
Table layouts_table(const Cluster& cluster);
/// Components; support that ended before `today` is marked.
Table versions_table(const Cluster& cluster, std::chrono::sys_days today);
Table needs_table(const Cluster& cluster);
Table missing_table(const Cluster& cluster);
Table networks_table(const Cluster& cluster);
/// What of a checklist is met, and by what.
Table checklist_table(const Checklist& list);
/// What a commit does.
Table plan_table(const Plan& plan);

}  // namespace gpuctl::report
