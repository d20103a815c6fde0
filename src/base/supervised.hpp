// A program that runs for long while we watch it, and what is left of one that nobody watches.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <variant>

#include "base/file.hpp"
#include "base/process.hpp"

namespace gpuctl::base {

/// Which process it is, also once its number was given to another one.
struct ProcessIdentity {
  pid_t id = 0;
  std::string start;  // field 22 of /proc/PID/stat: clock ticks since the machine started
};

/// True when that very process is there and has not ended.
bool lives(const ProcessIdentity& process);

/// Runs in a session of its own; both streams go to a file (0600, appended), so that neither side
/// waits for the other. It gets SIGTERM when we die.
class Supervised {
 public:
  static std::variant<Supervised, FileError> start(const Process& process,
                                                   const std::string& output);

  const ProcessIdentity& identity() const { return identity_; }
  /// Waits until it has ended, at most so long; true when it has.
  bool wait(std::chrono::milliseconds time);
  /// How it ended, once it has; `output` and `errors` are empty.
  const Ended& ended() const { return ended_; }
  /// Sends SIGTERM to its process group.
  void ask_to_end() const;

 private:
  explicit Supervised(ProcessIdentity identity) : identity_(std::move(identity)) {}

  ProcessIdentity identity_;
  bool done_ = false;
  Ended ended_;
};

/// Ends what is left of the session that a program led, and whatever runs from a file below
/// `directory` (empty: nothing does): SIGTERM, then SIGKILL after `grace`. Children of a program
/// that was killed go on otherwise, in groups of their own. Gives how many processes there were.
std::size_t end_leftovers(const ProcessIdentity& leader, const std::string& directory,
                          std::chrono::milliseconds grace);

}  // namespace gpuctl::base
