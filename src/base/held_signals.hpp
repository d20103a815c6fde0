// Signals that end a process, kept back while something must not stop half-way.
#pragma once

#include <csignal>

namespace gpuctl::base {

/// Keeps SIGINT, SIGTERM, SIGHUP and SIGQUIT back from this thread and those it starts. One that
/// came meanwhile takes its course when the object ends, so that the process ends by it, as shells
/// and supervisors expect (128 + its number). To be held for short: whoever asks a process to end
/// does not wait forever. Objects may nest; only one thread of the process
/// may have any, unless the first one has none: signals then end the process through that.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals() { release(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// The signals that are kept back.
  static sigset_t set();
  /// What was blocked before.
  const sigset_t& before() const { return before_; }
  /// Ends the holding early.
  void release();

 private:
  sigset_t before_{};
  bool held_ = false;
};

}  // namespace gpuctl::base
