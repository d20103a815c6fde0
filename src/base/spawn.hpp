// Starts another program: a session of its own, no file of ours but its streams.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>

#include "base/file.hpp"
#include "base/process.hpp"

namespace gpuctl::base {

/// Descriptors that become the three streams of a program.
struct Streams {
  int input = -1;
  int output = -1;
  int errors = -1;
};

/// A program that was started, and is to be reaped; or why not.
struct Spawned {
  pid_t id = -1;
  int failure = 0;  // errno
};

/// The descriptor, or a copy of it above the three streams: where one of our own is closed, a new
/// file may get its number, and must not keep it.
FileDescriptor above_streams(int descriptor);

/// A file that nobody else sees, at its beginning; /dev/null for no text. Empty with errno set.
FileDescriptor input_file(const std::string& text);

/// Starts a program in a session of its own, so that nothing it starts can ask on our terminal.
/// When we die it gets SIGTERM. `mask` is what it has blocked.
Spawned spawn(const Process& process, const Streams& streams, const sigset_t& mask);

}  // namespace gpuctl::base
