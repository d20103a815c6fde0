// What a report shows of a cluster: files report.yaml of the folders that a platform builds on.
#pragma once

#include <memory>
#include <vector>

#include "catalog/library.hpp"
#include "derive/environment.hpp"

namespace gpuctl::report {

/// A part that rows fill, as `part` names it.
enum class Part { cluster, pools, layouts, versions, needs, networks, checklist, mechanisms };

struct Row {
  Part part = Part::cluster;
  cel::LazyExpression when;
  cel::LazyExpression items;
};

/// Rows of a file, with names that they share.
struct RowsOfFile {
  cel::Definitions variables;
  std::vector<Row> rows;
};

struct Rows {
  derive::Scope scope;
  std::vector<RowsOfFile> files;
};

/// Reads the files of all folders, so that several threads may compile afterwards.
void preload(catalog::Library& library);

/// The rows of a platform, which see what `scope` has, and `documents` after that. With `thorough`
/// all expressions are compiled at once, and what is wrong is reported (GPU03xx); otherwise at
/// first use.
std::shared_ptr<const Rows> compile(const catalog::Platform& platform, catalog::Library& library,
                                    const derive::Scope& scope, bool thorough, diag::Sink& sink);

}  // namespace gpuctl::report
