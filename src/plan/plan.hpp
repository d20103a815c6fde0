// Compares what a cluster's directory should hold with what it holds.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/lock.hpp"
#include "render/documents.hpp"

namespace gpuctl::plan {

/// Everything that belongs in a cluster's directory, the lock included.
struct ClusterFiles {
  std::string directory;                     // "clusters/prod/ml-a"
  std::map<std::string, std::string> files;  // path below the directory -> bytes
};

/// Puts the rendered documents and the lock together. `lock` comes with tool, catalog, input and
/// choices; its digests are filled in.
ClusterFiles assemble(const render::Rendered& rendered, const std::string& stage,
                      const std::string& name, Lock lock);

/// What stands there now, wherever that is.
struct Present {
  /// Same bytes at this path?
  std::function<bool(const std::string& path, const std::string& content)> same;
  /// The content, nothing when absent.
  std::function<std::optional<std::string>(const std::string& path)> read;
};

struct Change {
  enum class Kind { create, update, remove };
  Kind kind = Kind::create;
  std::string path;  // below the cluster's directory
};

struct Options {
  bool take_over = false;  // overwrite edited and foreign files
};

/// Changes that turn what is present into what is wanted, sorted by path. A managed file that
/// someone edited is GPU0612, a file in the way that the lock does not list GPU0613, a managed file
/// that is now withheld GPU0614. `old` is nullptr when there is no lock yet.
std::vector<Change> compare(const ClusterFiles& wanted, const Lock* old, const Present& present,
                            const std::vector<render::Withheld>& withheld, const Options& options,
                            diag::Sink& sink);

/// Warns (GPU0616) of removed objects that are protected: GitOps controllers do not prune them, so
/// they live on, and cost money, until somebody deletes them. Notes (GPU0617) what begins to leave
/// with this commit. `old` is the lock of the last commit, nullptr when there was none.
void report_removals(const std::vector<Change>& changes, const render::Rendered& rendered,
                     const Lock* old, const std::string& directory, const Present& present,
                     const catalog::Platform& platform, diag::Sink& sink);

/// "3 created, 1 updated"; "no change" when empty.
std::string summary(const std::vector<Change>& changes);

}  // namespace gpuctl::plan
