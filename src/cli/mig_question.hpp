// What the commands on MIG have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "gpu/mig.hpp"

namespace gpuctl::cli {

/// The options of all of them.
struct MigOptions {
  std::string gpu;
  std::vector<std::string> gpus;  // of a plan
  std::vector<std::string> layouts;
  std::string demand;
  int per_node = 0;
  int headroom = 0;
  std::string objective = "gpus";
  std::string output = "text";
};

/// A profile and how many of it, in the order in which they were given.
using MigCounts = std::vector<std::pair<std::string, std::int64_t>>;

/// "1g.5gb:2,3g.20gb:1".
std::string text_of(const gpu::MigLayout& layout);
/// {"1g.5gb": 2, "3g.20gb": 1}.
yaml::Node node_of(const gpu::MigLayout& layout, yaml::Arena& arena);

/// One run of a command: knowledge, what the user wrote, the answer.
class MigQuestion {
 public:
  MigQuestion(const MigOptions& options, const GlobalOptions& global)
      : options_(options), global_(global), report_(global) {}

  /// The class of a GPU model, or of a class itself; nothing after shown errors.
  std::optional<gpu::MigClass> gpu(const std::string& name);
  /// "1g.5gb:2,3g.20gb"; nothing after a shown usage error.
  std::optional<MigCounts> counts(const std::string& text);
  /// Prints as text or JSON; the exit code.
  int answer(const std::string& text, const yaml::Node& json, bool good);

 private:
  const MigOptions& options_;
  const GlobalOptions& global_;
  Report report_;
};

}  // namespace gpuctl::cli
