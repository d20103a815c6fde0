// From manifests that exist to a blueprint that says the same: rows of `import.yaml`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/platform.hpp"
#include "cel/definitions.hpp"
#include "derive/path.hpp"

namespace gpuctl::imports {

/// A value that the manifests do not say, and that a row supplied.
struct Assumption {
  std::string path;  // "spec.baseDomain"
  std::string because;
};

/// What the rows make of a set of documents.
struct Proposal {
  yaml::Node blueprint;  // {apiVersion, kind, metadata, spec}
  yaml::Node facts;
  std::string release;  // of the readers: what the documents say, or what was asked for
  std::vector<Assumption> assumptions;
  yaml::Node found;  // the whole tree that the rows made
};

/// Why a document that the blueprint does not make is left out.
struct LeftOut {
  std::string because;
  bool lost = false;  // the blueprint has nothing in its place
};

/// A field, and why it is treated in another way than others.
struct Ignored {
  std::string path;  // as yaml::parse_path() reads it
  std::string because;
};

/// The rows of a platform.
class Mapping {
 public:
  /// Compiles `import.yaml` of all folders that the platform builds on. Faults are GPU0401, GPU03xx
  /// and GPU0406; the result is then nullptr. With `thorough` all expressions are compiled at once,
  /// otherwise at first use. `platform` and `library` must outlive the mapping.
  static std::shared_ptr<const Mapping> compile(const catalog::Platform& platform,
                                                catalog::Library& library, bool thorough,
                                                diag::Sink& sink);

  /// Runs the rows on decoded documents (a list of maps). `release`: of the readers, one that the
  /// documents name counts more. A row whose expression fails sets nothing: what is missing then
  /// shows when the blueprint is rendered.
  Proposal propose(const yaml::Node& documents, const std::string& release,
                   yaml::Arena& arena) const;

  /// Says whether a document is left out on purpose: it only informs, or belongs to a controller.
  std::optional<LeftOut> left_out(const yaml::Node& document, const Proposal& proposal,
                                  yaml::Arena& arena) const;

  /// The fields of a document that nobody needs to keep, whether it has them or not.
  std::vector<Ignored> ignored(const yaml::Node& document, const Proposal& proposal,
                               yaml::Arena& arena) const;

  /// The fields of a document that must come back as they are, with the reason.
  std::vector<Ignored> kept(const yaml::Node& document, const Proposal& proposal,
                            yaml::Arena& arena) const;

  /// The namespace of a document that says none: that of what refers to it. Empty when nobody
  /// knows.
  std::string namespace_of(const yaml::Node& document, const Proposal& proposal,
                           yaml::Arena& arena) const;

  /// Trees of values that hold in a document where its fields are absent.
  std::vector<yaml::Node> absent(const yaml::Node& document, const Proposal& proposal,
                                 yaml::Arena& arena) const;

 private:
  struct Row {
    std::vector<derive::Step> path;
    std::shared_ptr<const cel::Definitions> shared;  // of its file
    cel::Definitions variables;                      // of its own; they see `item` and `index`
    cel::LazyExpression value;
    cel::LazyExpression when;
    cel::LazyText assumed;
  };
  struct Leave {
    std::shared_ptr<const cel::Definitions> shared;
    cel::LazyExpression when;
    cel::LazyText because;
    bool lost = false;
  };
  struct Ignore {
    std::shared_ptr<const cel::Definitions> shared;
    cel::LazyExpression when;
    Ignored what;
  };
  struct Placing {
    std::shared_ptr<const cel::Definitions> shared;
    cel::LazyExpression when;
    std::string space;
  };
  struct Absent {
    std::shared_ptr<const cel::Definitions> shared;
    cel::LazyExpression when;
    yaml::Node values;
  };
  std::vector<Ignored> fields(const std::vector<Ignore>& rows, const yaml::Node& document,
                              const Proposal& proposal, yaml::Arena& arena) const;
  std::vector<cel::Value> values_for(const Proposal& proposal, yaml::Arena& arena) const;
  class Compiler;
  class Run;

  const catalog::Platform* platform_ = nullptr;
  std::vector<Row> rows_;
  std::vector<Leave> leave_;
  std::vector<Ignore> ignore_;
  std::vector<Ignore> keep_;
  std::vector<Placing> placings_;
  std::vector<Absent> absent_;
};

}  // namespace gpuctl::imports
