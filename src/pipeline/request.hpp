// What a command wants of the pipeline.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clean_record.hpp"
#include "pipeline/member.hpp"
#include "pipeline/neighbours.hpp"
#include "schema/crds.hpp"

namespace gpuctl::pipeline {

/// Published CRDs, parsed once for all blueprints of a run; they load lazily, hence the mutex.
struct SharedCrds {
  SharedCrds(const std::vector<std::string>& directories, diag::Sink& sink)
      : crds(directories, sink) {}
  schema::Crds crds;
  std::mutex mutex;
};

struct Request {
  std::string date;                       // that rules go by, "2031-12-31"
  std::string facts_file = {};            // --facts, or empty
  std::shared_ptr<SharedCrds> crds = {};  // --crds, or nullptr
  std::string install_dir = {};           // --install-dir: render the secret form too
  bool encrypt = false;          // secrets for Git; otherwise stand-ins are where they would be
  bool refresh_secrets = false;  // also those that are encrypted already
  bool replace_facts = false;    // --facts-replace: they may be of a cluster installed anew
  bool foreign = false;          // files may hold documents that others wrote
  /// What lies beside such files; nullptr: nothing.
  std::shared_ptr<Neighbours> neighbours = {};
  /// Releases that the command line names, by option: {"x-version": "1.2"}.
  std::map<std::string, std::string> releases = {};
  /// Content of files that are not on the disk, by path as the run would open it.
  std::map<std::string, std::string> given = {};
  /// Blueprints that are no file of their own; nullptr: there are none.
  std::shared_ptr<const Members> members = {};
  /// Choices of the lock to make again, as derive::Earlier has them.
  std::vector<std::string> choose_again = {};
  /// Clusters ("stage/name") whose releases this one is to have, by cluster; see promotion.hpp.
  std::map<std::string, std::vector<std::string>> like = {};
  /// What the run has found clean, for all of its blueprints; nullptr when there is only one.
  std::shared_ptr<base::CleanRecord> clean = {};
  /// Names that no node goes by any more, as derive::Earlier has them.
  std::vector<std::string> retired = {};
  bool go_on = false;          // what the last commit began to take away goes with this one
  bool despite_rules = false;  // render although rules on blueprints object
  bool despite_gap = false;    // render although no mirror has something (GPU0442)
  bool shadowed = true;        // say which fields overrides make idle
  bool provenance = false;     // wanted for the documents, not only for faults in them
  /// Content of a file in the place that the output goes to ("clusters/.../gpuctl.lock"), when
  /// there is one: earlier choices and facts come from there.
  std::function<std::optional<std::string>(const std::string& path)> earlier = {};
  /// The same of a branch that is made anew: what it holds encrypted need not be encrypted again.
  std::function<std::optional<std::string>(const std::string& path)> proposed = {};

  /// The blueprint of this name when it is no file of its own, or nullptr.
  const Member* member(const std::string& name) const {
    if (!members) return nullptr;
    const auto found = members->find(name);
    return found == members->end() ? nullptr : &found->second;
  }
};

}  // namespace gpuctl::pipeline
