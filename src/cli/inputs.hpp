// What the words of a command line that stand for blueprints lead to: files, directories, patterns,
// standard input.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.hpp"

namespace gpuctl::cli {

/// What standard input is called in messages.
inline constexpr const char* kStandardInput = "<stdin>";

/// Files in the order of the words, those of one word sorted.
struct InputNames {
  std::vector<std::string> files;
  std::map<std::string, std::string> given;  // by such a name: content that is in no file
};

/// Looks behind words: `-` is standard input, a directory stands for the blueprints and fleets
/// below it (no facts, no bases without a name, nothing hidden), and a pattern of glob(7) that is
/// no file for what it fits. All else is taken for a file. Nothing after GPU0011: a word leads to
/// nothing.
std::optional<InputNames> find_inputs(const std::vector<std::string>& words, diag::Sink& sink);

}  // namespace gpuctl::cli
