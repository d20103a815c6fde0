// What facts of a cluster are read from: files facts-sources.yaml of the folders that a platform
// builds on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catalog/library.hpp"
#include "derive/environment.hpp"

namespace gpuctl::facts {

/// What rows see besides what expressions on a platform see, in this order: the document, and all
/// of its source that the row recognises.
enum Variable : std::size_t { kDocument, kDocuments, kVariables };

using Named = std::vector<std::pair<std::string, cel::LazyExpression>>;

/// A program by its role, with words that are the same for all documents.
struct Call {
  std::string role;
  std::vector<cel::LazyText> arguments;
  bool optional = false;
};

/// What shows that a document is of another cluster.
struct Contradiction {
  cel::LazyExpression when;
  cel::LazyText because;
};

/// A kind of document.
struct Row {
  std::string name;
  std::string title;
  std::int64_t rank = 0;
  cel::LazyExpression recognises;
  std::vector<std::string> files;  // patterns below an installer's directory
  bool secret = false;
  bool together = false;
  std::optional<Call> live;
  std::vector<Contradiction> contradicts;
  Named facts;                       // "a.b" lies deeper
  std::vector<std::string> passing;  // facts that hold only for the moment
  Named owners;                      // who else writes what a fact says
};

struct Rows {
  derive::Scope scope;
  std::vector<Row> rows;  // by rank
  Named computed;
};

/// The rows of a platform. With `thorough` all expressions are compiled at once, and what is wrong
/// is reported (GPU03xx, GPU0401: a name that stands twice, a fact that the platform does not
/// have); otherwise at first use.
std::shared_ptr<const Rows> compile(const catalog::Platform& platform, catalog::Library& library,
                                    const derive::Scope& scope, bool thorough, diag::Sink& sink);

}  // namespace gpuctl::facts
