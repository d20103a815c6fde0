// `gpuctl explain FIELD`: what a field of the blueprint is for.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace gpuctl::cli {

struct FieldQuestion {
  std::string path;      // as people write it
  std::string platform;  // empty: all of them
  bool recursive = false;
  bool json = false;
};

/// Prints type, default, constraints, example, rules and platforms of a field, or its tree; a path
/// that leads nowhere is GPU0008.
int run_explain_field(const FieldQuestion& question, const GlobalOptions& global);

}  // namespace gpuctl::cli
