// What a command did, as one JSON document on standard output (`--format json`). Its form is
// docs/results.schema.json.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "yaml/node.hpp"

namespace gpuctl::cli {

struct Finished;

/// Collects what a run will say of itself. Not for several threads.
class ResultDocument {
 public:
  /// The document is wanted: standard output is for it alone.
  void request() { wanted_ = true; }
  bool wanted() const { return wanted_; }
  /// "Apply", "MigPlan": the words of the command.
  void set_kind(std::string kind) { kind_ = std::move(kind); }
  /// Adds a field, or replaces its value, which is copied.
  void set(std::string_view field, const yaml::Node& value);
  void set(std::string_view field, std::string_view text);
  void set_flag(std::string_view field, bool value);
  /// The value of a field; null when it was not set.
  yaml::Node get(std::string_view field) const {
    const yaml::Node* found = fields_.find(field);
    return found == nullptr ? yaml::Node() : *found;
  }
  /// For values that set() is to be given.
  yaml::Arena& arena() { return arena_; }
  /// Counts diagnostics that were shown.
  void count(std::size_t errors, std::size_t warnings, std::size_t notes);
  /// From now on say() keeps what it gets.
  void keep_said() { keeps_said_ = true; }
  /// Diagnostics, as they are shown: they go to standard error unless they are kept.
  void say(std::string_view text);
  /// What was kept.
  const std::string& said() const { return said_; }
  /// Something to keep until the document is written: signals that wait for it.
  void keep(std::shared_ptr<void> kept) { kept_ = std::move(kept); }
  /// The document; it lives as long as this.
  yaml::Node document(int exit_code);
  /// The document on one line; bytes that are no text are replaced.
  std::string text(int exit_code);

 private:
  bool wanted_ = false;
  std::string kind_ = "Usage";
  yaml::Arena arena_;
  yaml::MapBuilder fields_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  std::size_t notes_ = 0;
  bool keeps_said_ = false;
  std::string said_;
  std::shared_ptr<void> kept_;
};

/// A list of texts.
yaml::Node texts(const std::vector<std::string>& lines, yaml::Arena& arena);
/// The lines of a text, each without the white space at its beginning.
yaml::Node lines_of(std::string_view text, yaml::Arena& arena);
/// The paths that an operation has, below `directory`, and how many of `files` files stay.
void set_changes(const std::vector<plan::Change>& changes, const std::string& directory,
                 std::size_t files, yaml::MapBuilder& to, yaml::Arena& arena);
/// Adds `cluster`, "STAGE/NAME", and its two parts; nothing when it is empty.
void set_cluster(std::string_view cluster, yaml::MapBuilder& to, yaml::Arena& arena);
/// What is known of a blueprint once it has run: its file, cluster, verdict and findings.
yaml::MapBuilder verdict_of(const Finished& blueprint, bool strict, yaml::Arena& arena);
/// Records the blueprints of a run and what was found in each.
void record_verdicts(const std::vector<Finished>& blueprints, bool strict, ResultDocument& result);

}  // namespace gpuctl::cli
