// Published CRDs from directories, found by group, version and kind.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schema/schema.hpp"

namespace gpuctl::schema {

struct Crd {
  std::string group;
  std::string version;
  std::string kind;
  bool namespaced = false;
  SchemaPtr schema;
  std::string file;
};

/// Looks up CRDs lazily: a file is parsed only when a kind is asked for that its text names.
/// Directories are not entered recursively; the first directory that has the kind wins. Safe for
/// several threads. Diagnostics carry the position in a CRD file as text, as their sink belongs to
/// other sources.
class Crds {
 public:
  /// Lists the `.yaml` files of each directory; an unreadable one is GPU0220.
  Crds(const std::vector<std::string>& directories, diag::Sink& sink);
  ~Crds();
  Crds(const Crds&) = delete;
  Crds& operator=(const Crds&) = delete;

  /// nullptr when no file has it. Faults while loading go to `sink`, once.
  const Crd* find(const std::string& group, const std::string& version, const std::string& kind,
                  diag::Sink& sink);
  /// All CRDs of all files (for tests and statistics).
  std::vector<const Crd*> load_all(diag::Sink& sink);
  /// The files loaded so far. Later loads do not change this table, they put another on top of it.
  const diag::Sources& sources() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpuctl::schema
