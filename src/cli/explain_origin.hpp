// `gpuctl explain --origin`: where a value of a rendered document comes from.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace gpuctl::cli {

/// What is asked.
struct OriginQuestion {
  std::string object;     // KIND/NAME, or the path of the document's file
  std::string path;       // "spec.replicas"
  std::string blueprint;  // file
  std::string facts;      // --facts, or empty
  std::string against;    // directory whose lock and facts apply, or empty
};

/// Renders the blueprint with provenance and prints the chain behind one value. Unknown object:
/// GPU0006, unknown field: GPU0007.
int run_explain_origin(const OriginQuestion& question, const GlobalOptions& global);

}  // namespace gpuctl::cli
