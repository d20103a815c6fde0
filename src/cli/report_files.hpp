// `--report FORMAT=FILE`: findings for the programs that show them beside a change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/kept_findings.hpp"
#include "diag/reports.hpp"

namespace gpuctl::cli {

/// What a run found, as far as reports tell it.
struct Reported {
  std::vector<diag::Subject> subjects;  // one for each blueprint
  KeptFindings of_run;                  // said of the run itself
};

struct ReportFiles {
  std::vector<std::string> wanted;  // "sarif=FILE"

  void add_to(Options& command);
  /// Writes all of them, each whole or not at all. What is said of the run itself is said of
  /// `first_file`. False after shown errors.
  bool write(const Reported& reported, const std::string& first_file, Report& report) const;
};

/// The formats of `--report`.
std::vector<std::string> report_forms();

/// Writes a file that the user named, whole or not at all; directories above it are made.
std::optional<base::FileError> write_file(const std::string& path, const std::string& text);

/// What was found in a blueprint, while its run is there; `accepted` is not set.
diag::Subject subject_of(const Result& result);

}  // namespace gpuctl::cli
