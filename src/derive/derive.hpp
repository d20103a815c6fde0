// Makes every choice explicit: runs the derivation rows of a platform on a blueprint and gives the
// derived tree (`cluster`), which alone the templates see.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "catalog/platform.hpp"
#include "cel/provenance.hpp"
#include "cel/scalar.hpp"
#include "compose/lazy_body.hpp"
#include "derive/chooser.hpp"
#include "derive/environment.hpp"
#include "derive/path.hpp"
#include "yaml/context.hpp"

namespace gpuctl::derive {

/// A compiled row.
struct Row {
  std::vector<Step> path;
  std::string text;  // the path as written
  yaml::Node written;
  cel::Definitions variables;  // of its own; they see `item` and `index`
  cel::LazyExpression value;   // with `copy`: a path, and an absent key means nothing
  compose::LazyBody body;      // instead of `value`: the value as YAML
  cel::LazyExpression when;
  cel::LazyExpression valid;
  cel::LazyText because;
  bool copy = false;
  bool keep = false;
  bool retain = false;   // hands out names: those of earlier commits stay
  std::string recall;    // instead of `value`: the earlier names of the row with this path
  bool choose = false;   // the chooser gives the value
  bool history = false;  // `value` sees what the last run recorded as `before`; always recorded
  bool record = false;   // says what was built: is kept even where choices are made again
  bool show = false;     // for people who ask what was derived
};

/// All rows of a platform, checked against its schemas; shareable among threads.
struct Derivation {
  std::vector<Row> rows;
  std::shared_ptr<const cel::Definitions> variables;  // of the platform
  std::shared_ptr<const Chooser> chooser;  // may be absent: rows with `choose` then set {}
};

/// Compiles the rows. Faults are diagnostics (GPU03xx, GPU0406, GPU0407); the result is then
/// nullptr. `scope` is scope_of() the platform. With `thorough` all expressions are compiled at
/// once, otherwise at first use, which is for knowledge that was checked before.
std::shared_ptr<const Derivation> compile(const catalog::Platform& platform, const Scope& scope,
                                          bool thorough, diag::Sources& sources, diag::Sink& sink,
                                          std::shared_ptr<const Chooser> chooser = nullptr);

/// Says that the lock has a value of another type than `expected` for a choice (GPU0684).
void report_faulty_choice(const std::string& path, const yaml::Node& value,
                          const std::string& expected, diag::Sink& sink);

struct Derived {
  yaml::Node cluster;
  std::vector<Choice> choices;
  std::optional<Conflict> conflict;
  std::vector<Choice> shown;  // rows with `show`: what people ask for, and nothing chose
  Names names;                // rows with `retain`
};

/// Runs the rows. A value of an earlier run that is not valid any more is GPU0603. The result is
/// checked against the derived schema. `provenance`, when not null, receives where each value comes
/// from; the inputs and the derived tree are then in it, marked, under the names that expressions
/// use.
std::optional<Derived> derive(const Derivation& derivation, const blueprint::Blueprint& blueprint,
                              const yaml::Node& facts, const Earlier& earlier,
                              yaml::Context context, cel::Provenance* provenance = nullptr);

}  // namespace gpuctl::derive
