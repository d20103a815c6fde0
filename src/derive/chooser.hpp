// Values that cannot be derived one after the other, because they must go together. What chooses
// them is above this folder.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cel/program.hpp"
#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::derive {

/// A value the tool chose, for the lock.
struct Choice {
  std::string path;  // "gpuOperator.channel", "gpuPools[large].zones"
  yaml::Node value;
  std::string because;
  bool kept = false;  // taken from the lock
};

/// Values of the blueprint that do not go together.
struct Conflict {
  bool hard = false;              // it does not work; otherwise it is only not supported
  std::vector<diag::Label> pins;  // each needed for the conflict: where it stands, and what it is
  std::vector<std::string> ways_out;  // other values that would go together, the nearest first
};

struct Chosen {
  yaml::Node values;  // map, by name
  std::vector<Choice> choices;
  std::optional<Conflict> conflict;
};

class Chooser {
 public:
  Chooser() = default;
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  virtual ~Chooser() = default;

  /// `values` are those of base_environment(), `kept` the choices of an earlier run by path. A kept
  /// choice that does not go with the rest any more is GPU0603. Thread-safe.
  virtual Chosen choose(std::span<const cel::Value> values, const yaml::Node& kept,
                        diag::Sources& sources, yaml::Arena& arena, diag::Sink& sink) const = 0;
};

}  // namespace gpuctl::derive
