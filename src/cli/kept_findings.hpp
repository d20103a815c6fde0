// Findings that outlive the run, for reports.
#pragma once

#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/finding.hpp"
#include "diag/sources.hpp"

namespace gpuctl::cli {

/// What a report would show of a sink, in its order, apart from the sources. Thread-safe.
std::vector<diag::Finding> findings_of(const diag::Sink& sink, const diag::Sources& sources);

/// While it lives, what is shown of the run itself, and not of one cluster, is kept here as well.
/// There is one at a time, and what it keeps is shown by one thread.
class KeptFindings {
 public:
  KeptFindings();
  ~KeptFindings();
  KeptFindings(const KeptFindings&) = delete;
  KeptFindings& operator=(const KeptFindings&) = delete;

  const std::vector<diag::Finding>& all() const { return all_; }
  bool has_errors() const;
  /// Called with all that is shown; does nothing when none lives.
  static void note(const diag::Sink& sink, const diag::Sources& sources);

 private:
  std::vector<diag::Finding> all_;
};

}  // namespace gpuctl::cli
