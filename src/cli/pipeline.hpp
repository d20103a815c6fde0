// One blueprint through all stages: load, validate, derive, check, render, verify, assemble.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/ignore.hpp"
#include "cli/knowledge.hpp"
#include "plan/plan.hpp"
#include "schema/crds.hpp"

namespace gpuctl::cli {

/// Published CRDs, parsed once for all blueprints of a run; they load lazily, hence the mutex.
struct SharedCrds {
  SharedCrds(std::vector<std::string> directories, diag::Sink& sink)
      : crds(std::move(directories), sink) {}
  schema::Crds crds;
  std::mutex mutex;
};

/// What a command wants of the pipeline.
struct Request {
  std::string facts_file;            // --facts, or empty
  std::shared_ptr<SharedCrds> crds;  // --crds, or nullptr
  std::string install_dir;           // --install-dir: render the secret form too
  bool replace_facts = false;        // --facts-replace: they may be of a cluster installed anew
  bool commits = false;              // what is rendered goes to Git
  bool foreign = false;              // files may hold documents that others wrote
  /// Releases that the command line names, by option: {"x-version": "1.2"}.
  std::map<std::string, std::string> releases;
  /// Content of files that are not on the disk yet, by path as the run would open it.
  std::map<std::string, std::string> given = {};
  /// Choices of the lock to make again, as derive::Earlier has them.
  std::vector<std::string> choose_again = {};
  bool despite_rules = false;  // render although rules on blueprints object
  bool provenance = false;     // wanted for the documents, not only for faults in them
  /// Content of a file in the place that the output goes to ("clusters/.../gpuctl.lock"), when
  /// there is one: earlier choices and facts come from there.
  std::function<std::optional<std::string>(const std::string& path)> earlier;
};

/// Longest file that a run reads for a user.
inline constexpr std::size_t kMostInputBytes = 4 * 1024 * 1024;

/// All files together that a blueprint names, such as extra manifests.
inline constexpr std::size_t kMostExtraBytes = 16 * 1024 * 1024;

/// Where paths in a file are relative to: "" or with a slash at its end.
std::string directory_of(const std::string& path);
/// The facts beside a blueprint: `prod.yaml` -> `prod.facts.yaml`.
std::string facts_beside(const std::string& blueprint_file);

/// Digests of the files that went into a run, as bytes. What comes from the target is not among
/// them.
struct Inputs {
  std::string blueprint_file;  // as the user named it: messages show it
  std::string blueprint;
  std::string facts;                                       // --facts; empty: not given
  std::string facts_beside;                                // empty: none, or not looked at
  std::vector<std::pair<std::string, std::string>> extra;  // path as written -> digest

  /// Of all of it.
  std::string digest() const;
};

/// A file that holds secrets, for --install-dir.
struct SecretFile {
  std::string path;
  std::string content;
};

/// Everything that is known about one blueprint after the run. Owns what its diagnostics need.
struct Result {
  std::string blueprint_file;
  Inputs inputs;
  std::unique_ptr<diag::Sources> sources;
  std::unique_ptr<yaml::Arena> arena;
  diag::Sink sink;
  std::optional<std::size_t> foreign;  // documents in a file that others wrote
  std::optional<blueprint::Blueprint> blueprint;
  std::optional<plan::Lock> old_lock;
  std::vector<derive::Choice> choices;
  std::vector<derive::Choice> shown;  // what `validate -v` says besides
  render::Rendered rendered;
  plan::ClusterFiles files;  // empty unless rendered without errors
  std::vector<SecretFile> secret_files;
  std::vector<Ignored> ignored;                 // an entry for each of `spec.ignore`
  std::optional<schema::RuleCounts> crd_rules;  // of published CRDs, when there were any
  /// When asked for: what the origins in `rendered` are marks of.
  std::unique_ptr<cel::Provenance> provenance;

  /// Takes out what the blueprint ignores, also of findings that come later.
  void leave_out_ignored(diag::Sink& findings);
};

/// Runs the stages on one blueprint. Never throws for what a user did.
Result run(const std::string& blueprint_file, const Request& request, Knowledge& knowledge);

}  // namespace gpuctl::cli
