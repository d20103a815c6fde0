// Documents that others read: recognise them, and say what their reader will refuse.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/once.hpp"
#include "catalog/platform.hpp"
#include "document/availability.hpp"
#include "document/match.hpp"
#include "rule/rule.hpp"
#include "yaml/context.hpp"

namespace gpuctl::document {

/// Where compiled expressions of a kind come from, or go to; may give nullptr.
using StoreOf = std::function<std::shared_ptr<cel::Store>(const std::string& kind)>;

/// Where a document begins: its first key.
inline diag::Origin start_of(const yaml::Node& document) {
  return document.entries().empty() ? document.origin() : document.entries().front().key.origin();
}

/// The schema of a kind: its fragments merged, with defaults that stand nowhere.
yaml::Node definition_of(const catalog::DocumentKind& kind, yaml::Arena& arena, diag::Sink& sink);

/// What a check needs to know of its surroundings.
struct Context {
  std::string release;  // "1.2", a row of the table of releases; empty: the newest one
  std::vector<std::string> exempt = {};  // secrets that were left out, as ValidateOptions has them
  std::string prefix = {};               // of every message
  diag::Origin fallback = diag::kNoOrigin;  // where nothing better is known
  bool rendered = false;                    // by us: errors only
  yaml::Node cluster = {};  // derived tree of the cluster it is for; null: not known
  yaml::Node objects = {};  // of that cluster, or beside the document; as objects_of() lists them
  rule::Observer* observer = nullptr;  // of the rules; may be absent
};

/// A document, and the layer it is in; empty: in none.
struct Placed {
  yaml::Node document;
  std::string layer;
};

/// What rules see of the other documents of a cluster: apiVersion, kind, namespace, name and layer
/// of each, and `document`, as it is written. Texts that a document lacks are empty.
yaml::Node objects_of(const std::vector<Placed>& documents, yaml::Arena& arena);

/// Type of that list in expressions.
cel::Type objects_type();

/// Turns what a published schema objects to into advice.
void make_advice(diag::Diagnostic& finding);

/// The document kinds of a platform. Each is compiled when a document first needs it; thread-safe.
class Kinds {
 public:
  /// With `thorough` everything is compiled at once, and what is wrong is reported: GPU02xx,
  /// GPU03xx, GPU0401, GPU0408. `platform` is kept; `sources` must outlive the kinds.
  static std::shared_ptr<const Kinds> compile(std::shared_ptr<const catalog::Platform> platform,
                                              const StoreOf& store_of, bool thorough,
                                              diag::Sources& sources, diag::Sink& sink);

  struct Checked {
    bool known = false;        // otherwise no kind fits, and nothing was checked
    bool has_secrets = false;  // some of it was hidden in the sources
  };
  /// Decodes, converts and completes the document as its reader does, then checks its schema and
  /// the rules of its kind. Of a rendered one, what is found depends on `about` and on the values
  /// of the document; only where it is shown depends on their places.
  Checked check(const yaml::Node& document, const Context& about, yaml::Context context) const;

  /// The document as its reader decodes and converts it, with `complete` also with its defaults;
  /// texts stay texts.
  /// Nothing when no kind fits.
  std::optional<yaml::Node> read(const yaml::Node& document, const Context& context, bool complete,
                                 diag::Sources& sources, yaml::Arena& arena) const;

  /// The document without the fields that hold secrets, as far as its kind is known.
  yaml::Node without_secrets(const yaml::Node& document, yaml::Arena& arena) const;

  /// True when the reader of this kind of document does not hold to the published schema
  /// (`published: {strict: false}`): what that refuses is advice.
  bool published_is_advice(const yaml::Node& document) const;

  const catalog::Platform& platform() const { return *platform_; }

 private:
  struct Conversion {
    std::vector<std::string> path;
    cel::Definitions variables;
    cel::LazyExpression when;
    cel::LazyExpression value;
  };
  struct Kind {
    const catalog::DocumentKind* described = nullptr;
    const Kind* extends = nullptr;
    std::shared_ptr<cel::Store> store;
    mutable base::Once once;
    mutable yaml::Node definition;
    mutable schema::SchemaPtr schema;
    mutable std::vector<Conversion> conversions;
    mutable std::shared_ptr<const rule::Rules> rules;
    mutable std::unique_ptr<const Availability> availability;  // with those it extends
  };

  void prepare(const Kind& kind, bool thorough, diag::Sink& sink) const;
  void prepare_availability(const Kind& kind, const cel::Environment& environment, bool thorough,
                            diag::Sink& sink) const;
  const Kind& ready(const Kind& kind) const;
  static schema::ValidateOptions options_of(const Context& context, std::set<diag::Origin>& failed);
  diag::Sink judge(const Kind& kind, const yaml::Node& tree, const std::vector<cel::Value>& others,
                   rule::Subject subject, yaml::Context context) const;
  /// The kind of a document, ready for use; nullptr when none fits.
  const Kind* kind_of(const yaml::Node& document) const;
  yaml::Node convert(const Kind& kind, yaml::Node document, const std::vector<cel::Value>& others,
                     yaml::Arena& arena) const;

  void check_likeness(const Kind& kind, const yaml::Node& document, const Context& about,
                      yaml::Context context) const;

  static void add_what_readers_do(const Kind& kind, const Reading& reading,
                                  const diag::Sink& faults, diag::Sink& sink);

  std::shared_ptr<const catalog::Platform> platform_;
  diag::Sources* sources_ = nullptr;
  std::vector<std::unique_ptr<Kind>> kinds_;  // in the order of Platform::documents
  mutable yaml::Arena arena_;                 // of merged definitions; guarded by each kind's once
  mutable std::mutex one_at_a_time_;
};

}  // namespace gpuctl::document
