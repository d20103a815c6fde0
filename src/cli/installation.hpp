// What `install`, `destroy` and `status` share: the journal of a cluster, and the blueprint with
// what is known of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/apply_run.hpp"
#include "install/driver.hpp"

namespace gpuctl::cli {

/// What `destroy` and `status` are told of a cluster that was installed.
struct InstalledOptions {
  ApplyOptions apply;     // of its blueprint; that of the journal where none is named
  std::string name;       // NAME or STAGE/NAME
  std::string directory;  // of the journal; empty: the default one

  void add_to(Options& command);
  /// Blueprint and repository where the journal says, unless the command line does.
  void complete(const install::Story& story);
  /// Where its journal lies. Nothing after shown errors.
  std::optional<std::string> place(Report& report) const;
};

class Target;

/// The parts of one command, which must outlive the driver.
class Installation {
 public:
  /// `installs`: what the blueprint gives rise to is shown once, and the lock of the repository is
  /// read at each run. Otherwise only errors are shown, the lock is read once, and what it says is
  /// left out with a line when it cannot be read or the blueprint does not go with it: a cluster
  /// can be looked at, and be destroyed, even so.
  Installation(const ApplyOptions& options, const GlobalOptions& global, Knowledge& knowledge,
               Report& report, bool installs);
  ~Installation();

  /// Runs the blueprint: with the facts of a file, or those found where it is committed. nullptr
  /// after shown errors.
  std::unique_ptr<Result> run(const std::string& facts, bool secrets);
  /// The driver of a journal; nullptr after shown errors.
  std::unique_ptr<install::Driver> drive(install::Place& place, install::Journal& journal);

 private:
  bool commit(const std::string& facts, bool anew);
  /// Where the lock is read; nullptr with errors in the sink, or after shown ones.
  Target* look(diag::Sink& sink);
  void leave_lock(const std::string& why);

  const ApplyOptions& options_;
  const GlobalOptions& global_;
  Knowledge& knowledge_;
  Report& report_;
  install::Doors doors_;
  bool installs_;
  bool shown_;                      // what the blueprint's first run had to say
  std::unique_ptr<Target> target_;  // that was looked at
  bool without_lock_ = false;       // as was said
};

/// The directory that is meant: `directory`, or the default one of the cluster. Nothing after
/// GPU0701: neither HOME nor XDG_STATE_HOME says where that is.
std::optional<std::string> place_of(const std::string& directory, const std::string& cluster,
                                    Report& report);

}  // namespace gpuctl::cli
