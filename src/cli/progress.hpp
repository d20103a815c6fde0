// How far a run is, for people who watch it.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

#include "cli/command.hpp"

namespace gpuctl::cli {

/// One line on standard error, written over again and again, and gone at the end: "12 of 300
/// clusters". Only on a terminal, and only once the run has taken two seconds.
class Progress {
 public:
  Progress(const Report& report, std::size_t clusters);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more cluster is done. Thread-safe.
  void advance();

 private:
  using Clock = std::chrono::steady_clock;
  bool watched_;
  bool shown_ = false;
  std::size_t done_ = 0;
  std::size_t clusters_;
  std::mutex one_at_a_time_;
  Clock::time_point next_;  // time to say something
};

/// The same for work of which nobody knows how far it is: what is done, and for how long already.
class Waiting {
 public:
  Waiting(const Report& report, const std::string& what);

 private:
  std::jthread line_;  // ends with this object
};

}  // namespace gpuctl::cli
