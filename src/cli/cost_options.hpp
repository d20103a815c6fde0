// What an estimate is asked for with: own figures, and how a month typically goes.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cost/estimate.hpp"

namespace gpuctl::cli {

struct CostOptions {
  std::string costs;               // --costs, or empty
  std::vector<std::string> hours;  // "200", "POOL=200"

  void add_to(Options& command);
  cost::Hours month() const;
};

/// The user's own figures, with what their places stand in.
struct OwnCosts {
  diag::Sources sources;
  yaml::Arena arena;
  diag::Sink sink;
  cost::OwnFigures figures;

  /// Reads the file, where there is one. False after shown errors (GPU0002, GPU0820).
  bool read(const std::string& path, Knowledge& knowledge, Report& report);
  /// Shows which figures nothing needed (GPU0821), and which stand for machines of a list
  /// (GPU0823).
  void report_doubtful(Report& report) const;
};

}  // namespace gpuctl::cli
