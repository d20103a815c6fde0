// Findings as reports for the programs that show them beside a change: forges and build servers.
// A report is the same bytes for the same findings: it holds no time, no machine and no user.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/finding.hpp"

namespace gpuctl::diag {

/// What was checked, and what was found in it.
struct Subject {
  std::string name;  // of the cluster, or the file
  std::string file;  // which findings without a place of their own are about
  bool accepted = true;
  std::vector<Finding> findings;
};

/// The page of a code in Markdown, its title in the first line; empty when there is none.
using PageOf = std::function<std::string_view(std::string_view code)>;

/// SARIF 2.1.0: one run, one result a finding; what several subjects have is one result. Paths are
/// those of the findings, as references relative to where the program ran.
/// Source: OASIS, Static Analysis Results Interchange Format, errata 01.
std::string sarif_report(std::span<const Subject> subjects, std::string_view version,
                         const PageOf& page_of);

/// JUnit: one test case a subject, failed when it was not accepted; what else was found is its
/// output. Source: the schema junit-10.xsd of Jenkins, which others read as well.
std::string junit_report(std::span<const Subject> subjects);

/// The part of the Code Climate format that GitLab reads as Code Quality; what several subjects
/// have is one entry.
std::string code_quality_report(std::span<const Subject> subjects);

}  // namespace gpuctl::diag
