// Values that cannot be derived one after the other, because they must go together. What chooses
// them is above this folder.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cel/program.hpp"
#include "diag/diagnostic.hpp"
#include "yaml/context.hpp"
#include "yaml/node.hpp"

namespace gpuctl::derive {

/// A value the tool chose, for the lock.
struct Choice {
  std::string path;  // "gpuOperator.channel", "gpuPools[large].zones"
  yaml::Node value;
  std::string because;
  bool kept = false;  // taken from the lock
};

/// True for a choice at `prefix` or below it: "a.b" and "a[x]" are within "a", everything within
/// "".
bool is_within(const std::string& path, const std::string& prefix);

/// What a name stands for that nodes may go by, and the pools whose nodes did in some commit.
struct Used {
  yaml::Node value;
  std::vector<std::string> pools;
};

/// By path of the row that hands them out, then by name.
using Names = std::map<std::string, std::map<std::string, Used>>;

/// What an earlier run chose.
struct Earlier {
  Earlier() = default;
  /// `by_path`: a map from path to value; null: none.
  explicit Earlier(yaml::Node by_path) : choices(by_path) {}

  /// The value to keep, or nullptr: nothing was chosen, or it is to be chosen again.
  const yaml::Node* kept(const std::string& path) const;

  yaml::Node choices;
  /// Choices of another cluster that are to be made here too, by path; they come before `choices`
  /// and are never made again.
  yaml::Node adopted;
  /// What is_within() one of these is chosen again.
  std::vector<std::string> again;
  Names names;
  /// Names that no node goes by any more.
  std::vector<std::string> retired;
};

/// The message that what an earlier run, or another cluster, chose cannot stay (GPU0603).
std::string invalid_choice(const Earlier& earlier, const std::string& path);

/// Values of the blueprint that do not go together.
struct Conflict {
  std::vector<diag::Label> pins;  // each needed for the conflict: where it stands, and what it is
  std::vector<std::string> ways_out;  // other values that would go together, the nearest first
  std::vector<std::string> codes;     // of broken rules that tell most about it; empty: of any
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

  /// `values` are those of base_environment(). A kept choice that does not go with the rest any
  /// more is GPU0603. Thread-safe.
  virtual Chosen choose(std::span<const cel::Value> values, const Earlier& earlier,
                        yaml::Context context) const = 0;
};

}  // namespace gpuctl::derive
