// Whether a running program gets anywhere.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuctl::base {

/// How long a program may go without a sign of life; zero: forever.
struct Patience {
  std::chrono::milliseconds connect{0};  // waiting for a TCP connection
  std::chrono::milliseconds idle{0};     // reading and writing nothing, and not computing
};

/// Watches a program and all it has started, through /proc: bytes that they read and write (files,
/// pipes, most sockets), processor time, and connections that nobody answers. Where the kernel does
/// not tell, a program counts as alive.
class Liveness {
 public:
  enum class State { alive, unconnected, idle };

  Liveness(pid_t program, const Patience& patience);
  /// To be asked now and then; looks at most twice a second.
  State state();

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<std::string> family() const;

  pid_t program_;
  Patience patience_;
  Clock::time_point looked_;
  Clock::time_point moved_;      // when there was progress
  Clock::time_point connected_;  // when it was last not waiting for a connection
  std::uint64_t bytes_ = 0;
  std::uint64_t ticks_ = 0;  // of processor time, when there was progress
};

}  // namespace gpuctl::base
