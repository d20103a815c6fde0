// `spec.ignore` of a blueprint: notes and warnings that somebody has looked at and lives with.
#pragma once

#include <string>
#include <vector>

#include "pipeline/knowledge.hpp"

namespace gpuctl::pipeline {

/// What became of an entry.
struct Ignored {
  std::string code;
  std::string reason;
  std::size_t findings = 0;  // that were left out
};

/// Checks `spec.ignore`: an unknown code is GPU0686, one of errors alone GPU0687.
void check_ignore(const yaml::Node& entries, const catalog::Platform& platform,
                  const Knowledge& knowledge, diag::Sink& sink);

/// Takes the notes and warnings that `spec.ignore` names out of a sink, and counts them in `out`,
/// which has an entry for each code afterwards. An error with such a code stays, and is GPU0687 at
/// the entry, too.
void leave_out_ignored(const yaml::Node& entries, diag::Sink& sink, std::vector<Ignored>& out);

}  // namespace gpuctl::pipeline
