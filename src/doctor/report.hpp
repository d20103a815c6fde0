// Results of checks, for people and for programs.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "doctor/verdict.hpp"
#include "yaml/node.hpp"

namespace gpuctl::doctor {

/// How many checks have each verdict, in the order of Verdict.
std::array<std::size_t, kVerdictNames.size()> count(const std::vector<Result>& results);

/// A line for each check, below it what is to be known and done, at the end the counts. Of checks
/// that pass or are skipped, `all` shows every finding.
std::string report_text(const std::vector<Result>& results, bool all);

/// A list of {id, title, verdict, fatal, source, findings: [{verdict, evidence, remedy}]}.
yaml::Node report_tree(const std::vector<Result>& results, yaml::Arena& arena);

}  // namespace gpuctl::doctor
