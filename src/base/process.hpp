// Runs another program: argument vector, deadline, bounded capture, nothing left running.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/liveness.hpp"

namespace gpuctl::base {

struct Setting {
  std::string name;
  std::optional<std::string> value;  // nothing: the variable is taken away
};

struct Process {
  std::string program;  // absolute path, see find_program()
  std::vector<std::string> arguments;
  std::vector<Setting> environment;  // changes to our own
  std::string input;                 // what it reads; empty: /dev/null
  std::string directory;             // that it works in; empty: ours
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  Patience patience;  // less than until the deadline, for what does not get anywhere
  std::size_t most_bytes = std::size_t{256} << 10U;  // kept of each stream; the rest is dropped
};

struct Ended {
  enum class How { exited, signalled, late, unconnected, idle, not_started };
  How how = How::not_started;
  int code = 0;  // exit code, signal, or errno
  std::string output;
  std::string errors;

  bool good() const { return how == How::exited && code == 0; }
};

/// Absolute path of an executable file of this name in an absolute directory of PATH; "" when there
/// is none.
std::string find_program(const std::string& name);

/// Runs a program to its end. It has its input, a session of its own (so nothing it starts
/// can ask on our terminal) and no file of ours but its three streams. At the deadline, or when its
/// patience is over, its process group gets SIGTERM and, a second later, SIGKILL. When we get
/// SIGINT, SIGTERM, SIGHUP or SIGQUIT the same happens to it, and then the signal takes its course
/// with us. When we die otherwise, the program gets SIGTERM. What it leaves in the background may
/// keep its streams: we do not wait for them to close. Several threads may call it side by side if
/// another one leaves the signals as they are: one that comes then ends the process, and with it
/// all programs.
Ended run_process(const Process& process);

}  // namespace gpuctl::base
