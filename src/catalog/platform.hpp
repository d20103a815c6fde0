// A platform put together from the provider folders it builds on: merged schemas, catalogue tables,
// and the knowledge files that the later stages compile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/library.hpp"
#include "cel/program.hpp"
#include "schema/schema.hpp"

namespace gpuctl::catalog {

/// A catalogue table.
struct Table {
  std::string name;
  std::string key;       // the column that identifies a row
  std::string provider;  // folder it comes from
  yaml::Node columns;    // map: name -> schema, in written order
  yaml::Node display;    // names of the columns that a listing shows, or null
  std::string title;     // "machine types", as a heading has it
  yaml::Node window;     // {starts, ends, status}: columns of support dates, or null
  yaml::Node rows;       // map: key column -> row
};

/// What a kind of Kubernetes object needs around it (a row of kinds.yaml).
struct KindFacts {
  std::string api_version;
  std::string kind;
  bool namespaced = false;
  yaml::Node row;          // as written
  yaml::Node annotations;  // merged protection annotations, or null
  yaml::Node unprotected;  // those that are not about protection, or null
};

/// The rules of a file; in `DocumentKind::rules` as far as they are on that kind.
struct RuleFile {
  yaml::Node gate;  // CEL: whether the part of the blueprint that they are about is there, or null
  yaml::Node variables;  // map: name -> expression, for all rules; or null
  yaml::Node rules;      // list
};

/// A kind of document that somebody else reads: how it is recognised, what its reader decodes, and
/// what is wrong with it (files below documents/).
struct DocumentKind {
  std::string name;
  std::string extends;                // the kind it is a special case of, or empty
  std::size_t depth = 0;              // number of kinds it extends, one after the other
  std::vector<yaml::Node> matches;    // alternatives, the surest first
  std::vector<yaml::Node> fragments;  // of its schema, those of the kinds it extends first
  bool whole = false;  // the build has put the definition together: it is the only fragment
  std::vector<yaml::Node> conversions;  // rows {set, value, when}, likewise
  std::vector<RuleFile> rules;          // of its own
  /// `spec` of each DocumentReleases on it: which releases have a field, and what opens it.
  std::vector<yaml::Node> availability;
  /// {group, version, kind, strict} of the published schema when the document does not carry it, or
  /// null. `strict: false`: the schema refuses what the reader takes.
  yaml::Node published;
  /// {sets, places}: it is judged as well as a document of another kind; null: it is not.
  yaml::Node judged_as;
};

/// Whose release decides which fields a document may have.
struct Releases {
  std::string option;    // of the command line: "x-version"
  std::string table;     // rows {KEY, ordinal}
  std::string features;  // rows {NAME, since}, or empty
  std::string derived;   // dotted path in the derived tree that says the release
  std::string oldest;    // that is assumed where nothing names one; empty: any
  std::string unnamed;   // the release that is taken when nobody names one; empty: the newest
  std::string title;     // as messages name what is released: "Sample" in "Sample 1.2"
  /// Rows {NAME, states: {release: feature set}} of feature gates, or empty: the first of
  /// `feature_sets` in which a gate is on, or another text; a release that is absent has no such
  /// gate.
  std::string gates;
  std::vector<std::string> feature_sets;  // each has what those before it have; the first: default
  std::string custom_set;                 // the set in which nothing is on but what is named
};

struct Platform {
  std::string name;
  std::string title;
  std::vector<std::string> builds;  // provider folders in order
  schema::SchemaPtr blueprint;      // of the whole document
  schema::SchemaPtr derived;        // of `cluster`
  schema::SchemaPtr facts;          // of `facts`
  std::vector<Table> tables;
  yaml::Node catalog;  // map: table name -> rows
  cel::LazyType catalog_type = cel::Type();
  yaml::Node variables;  // map: name -> expression, for derivations and rules; or null
  std::vector<yaml::Node> derivations;  // rows, in order
  std::vector<RuleFile> rules;          // in order
  std::vector<yaml::Node> axes;         // versions to choose, in order
  std::vector<KindFacts> kinds;
  std::vector<DocumentKind> documents;  // by name
  std::optional<Releases> releases;
  bool names_copies = false;           // behind an air gap, documents call images by their copies
  std::vector<std::string> templates;  // paths below templates/, in order

  const KindFacts* kind(std::string_view api_version, std::string_view kind_name) const;
  const Table* table(std::string_view table_name) const;
};

/// The merged fragments of a schema of a platform: "schema.yaml", "derived.yaml" or "facts.yaml".
/// Each has taken in what it shares with others: parts of its own folder and of those before.
/// Unknown part, or a second one of a name: GPU0402.
yaml::Node merged_schema(Library& library, const std::vector<std::string>& builds,
                         const std::string& file, diag::Sink& sink);

/// Loads a platform by name. Unknown: GPU0403 at `asked_at`, with did-you-mean. Faulty knowledge:
/// GPU0401, GPU0402, GPU0404 and schema codes.
std::shared_ptr<const Platform> load_platform(Library& library, const std::string& name,
                                              diag::Origin asked_at, diag::Sink& sink);

}  // namespace gpuctl::catalog
