// Where `apply` commits to: a repository on this machine, or one elsewhere.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "git/remote.hpp"
#include "git/repository.hpp"

namespace gpuctl::cli {

class Target {
 public:
  virtual ~Target() = default;

  /// Reads where a commit would start: at the tip of the branch; the caller may start at its base
  /// instead. Before each attempt. False after a diagnostic.
  virtual bool look(diag::Sink& sink) = 0;
  const git::Head& head() const { return head_; }
  /// The repository that holds head().start; nullptr when there is none yet.
  virtual git::Repository* repository() = 0;
  /// After errors in reading: true when they are mended and the next attempt may go well.
  virtual bool recover(const diag::Sink& sink) = 0;
  /// Makes the commit on head(); elsewhere it counts only when the server has it.
  virtual git::CommitResult commit(git::CommitRequest request, diag::Sink& sink) = 0;

  /// After a commit that came too late: false when that has happened too often, otherwise true
  /// after a pause, longer from time to time and never the same, so that writers get out of step.
  virtual bool wait_for_next_try() = 0;
  virtual void report_lost(diag::Sink& sink) const = 0;
  /// The line about a commit that was made.
  virtual std::string done(const std::string& id) const = 0;
  /// The closing line for a run that failed.
  virtual std::string nothing_done() const = 0;

 protected:
  git::Head head_;
};

/// What tells where to commit to.
struct Destination {
  std::string repository;  // `--repo`
  std::string branch;      // "": its default
  git::TimeLimits limits;
  bool init = false;       // create a repository wherever it is
  bool look_only = false;  // nothing is to be changed, not even finished
};

/// nullptr after shown errors.
std::unique_ptr<Target> make_target(const Destination& destination, Report& report);

}  // namespace gpuctl::cli
