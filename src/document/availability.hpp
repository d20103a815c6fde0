// Which releases have a field or value of a document, and which feature gate opens it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/platform.hpp"
#include "cel/scalar.hpp"

namespace gpuctl::document {

/// What `Availability::check` is asked about.
struct Reading {
  yaml::Node written;  // the document as it stands: readers without a field refuse it even empty
  yaml::Node decoded;  // as its reader decodes it, before conversions and defaults
  yaml::Node release;  // as release() gives it
  std::string prefix = {};  // of every message
  bool rendered = false;    // by us: what readers do with unknown fields is not said
  diag::Origin fallback = diag::kNoOrigin;  // where nothing better is known
};

/// The tables of DocumentReleases of a kind and of those that it extends.
class Availability {
 public:
  /// `specs` are the `spec` of the tables, the most special first. Expressions are compiled with
  /// `environment`, with the variables `value` and `release`; all at once with `thorough`. Faults:
  /// GPU0401, GPU0402.
  Availability(const std::vector<yaml::Node>& specs, const catalog::Platform& platform,
               const cel::Environment& environment, bool thorough, diag::Sources& sources,
               diag::Sink& sink);

  /// Errors for fields and values that the release lacks, or whose feature gate is off in the
  /// document's feature set. Where a gate is none of the release's, nothing is asked.
  void check(const Reading& reading, yaml::Arena& arena, diag::Sink& sink) const;

  /// What readers of the release do with fields that they do not know; empty when no table says it.
  std::string unknown_fields(const std::string& release) const;

  bool empty() const { return rows_.empty() && unknown_.empty(); }

 private:
  struct Step {
    std::string key;
    bool each = false;  // the items of the list that stands there
  };
  using Path = std::vector<Step>;
  struct Found {
    yaml::Node value;
    diag::Origin at;
    std::string path;
  };
  struct Row {
    std::vector<Path> paths;
    std::optional<std::int64_t> since, until;  // ordinals, both included
    std::string gate;
    std::vector<std::string> values;  // empty: any
    cel::LazyExpression when;
    // For what is said of it, which is seldom.
    yaml::Node written;
    yaml::Node codes;
  };
  struct Unknown {
    std::optional<std::int64_t> since, until;
    std::string says;
  };
  struct Switches {
    std::string set, gates;  // keys at the top of the document
  };

  void add(const yaml::Node& spec, const cel::Environment& environment, bool thorough,
           diag::Sources& sources, diag::Sink& sink);
  std::optional<Row> read(const yaml::Node& written, const yaml::Node& spec, diag::Sink& sink);
  std::optional<std::int64_t> ordinal(const yaml::Node& release, diag::Sink& sink) const;
  std::optional<std::int64_t> ordinal(std::string_view release) const;
  std::vector<Found> find(const Row& row, const yaml::Node& tree, const yaml::Node& release,
                          yaml::Arena& arena) const;
  bool concerns(const Row& row, const yaml::Node& value, const yaml::Node& release,
                yaml::Arena& arena) const;
  static diag::Origin placed(const Found& found, const Reading& reading);
  void lacks(const Row& row, const Found& found, const Reading& reading, bool later,
             diag::Sink& sink) const;
  void shut(const Row& row, const Found& found, const Reading& reading, const std::string& state,
            const std::string& set, diag::Sink& sink) const;
  /// The first feature set in which a gate is on at a release; nothing when it has no such gate.
  std::optional<std::string> state(const std::string& gate, const std::string& release) const;
  bool is_on(const std::string& state, const std::string& gate, const std::string& set,
             const yaml::Node& document) const;
  /// The first release after `after` in which a gate is on by default; branches are none.
  std::string first_by_default(const std::string& gate, const std::string& after) const;

  const catalog::Platform& platform_;
  std::vector<Row> rows_;
  std::vector<Unknown> unknown_;
  Switches switches_;
};

}  // namespace gpuctl::document
