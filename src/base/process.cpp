#include "base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "base/file.hpp"
#include "base/held_signals.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"

namespace gpuctl::base {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kGrace{1000};   // between SIGTERM and SIGKILL
constexpr milliseconds kTick{50};      // how often its end is looked for, whatever is reported
constexpr int kLostStatus = 127 << 8;  // of a program that somebody else has reaped
constexpr milliseconds kLinger{200};   // for the last words after its end

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = above_streams(ends[0]);
    write = above_streams(ends[1]);
    return read && write;
  }
};

// One stream of the program; what is over the limit is read, so that it cannot block, and dropped.
struct Stream {
  FileDescriptor* end = nullptr;
  std::string* text = nullptr;

  void take(std::size_t most) {
    std::array<char, 16384> buffer{};
    const ssize_t count = ::read(end->get(), buffer.data(), buffer.size());
    if (count > 0) {
      const std::size_t room = most - std::min(most, text->size());
      text->append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      end->reset();
    }
  }
};

// Tells which of the held signals has come, one at a time.
class SignalFile {
 public:
  SignalFile() {
    const sigset_t set = HeldSignals::set();
    file_ = FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  int descriptor() const { return file_.get(); }

  // The signal that waits; 0 when there is none.
  int take() const {
    signalfd_siginfo info{};
    return ::read(file_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo)
                                                                  : 0;
  }

 private:
  FileDescriptor file_;
};

// A started program, until it is reaped.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}

  pid_t id() const { return id_; }
  bool ended() const { return ended_; }
  int status() const { return status_; }

  // Looks whether it has ended, or waits for that.
  bool reap(bool wait) {
    while (!ended_) {
      const pid_t found = ::waitpid(id_, &status_, wait ? 0 : WNOHANG);
      if (found == 0) return false;
      if (found < 0 && errno == EINTR) continue;
      ended_ = true;  // or somebody else has reaped it: its status is lost, and counts as a failure
      if (found < 0) status_ = kLostStatus;
    }
    return true;
  }

  // Its whole group, whether or not the first of it still lives.
  void end() {
    ::kill(-id_, SIGTERM);
    const auto limit = Clock::now() + kGrace;
    while (!reap(false) && Clock::now() < limit) ::poll(nullptr, 0, 10);
    ::kill(-id_, SIGKILL);
    reap(true);
  }

 private:
  pid_t id_;
  int status_ = 0;
  bool ended_ = false;
};

int wait_time(Clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
  return static_cast<int>(std::clamp(left, milliseconds(0), kTick).count());
}

// Why a program is no longer waited for.
struct Watched {
  int signal = 0;  // that we were sent
  bool late = false;
  Liveness::State state = Liveness::State::alive;

  bool cut_off() const { return signal != 0 || late || state != Liveness::State::alive; }
};

// Takes what a program says until it has ended and said all, or is to be ended.
Watched watch(const Process& process, Child& child, const SignalFile& signals,
              std::array<Stream, 2> streams) {
  // Becomes readable at its end. Without it (Linux before 5.3) the tick finds out.
  const FileDescriptor end(static_cast<int>(::syscall(SYS_pidfd_open, child.id(), 0)));
  Watched out;
  Liveness liveness(child.id(), process.patience);
  Clock::time_point last_words = Clock::time_point::max();
  while (*streams[0].end || *streams[1].end || !child.ended()) {
    // An end that is reaped would be reported forever.
    std::array<pollfd, 4> polled = {pollfd{signals.descriptor(), POLLIN, 0},
                                    pollfd{streams[0].end->get(), POLLIN, 0},
                                    pollfd{streams[1].end->get(), POLLIN, 0},
                                    pollfd{child.ended() ? -1 : end.get(), POLLIN, 0}};
    ::poll(polled.data(), polled.size(), wait_time(std::min(process.deadline, last_words)));
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (*streams[i].end && polled[i + 1].revents != 0) streams[i].take(process.most_bytes);
    }
    out.signal = signals.take();
    out.late = Clock::now() >= process.deadline && !child.reap(false);
    if (!child.ended()) out.state = liveness.state();
    if (out.cut_off()) break;
    if (child.reap(false) && last_words == Clock::time_point::max()) {
      last_words = Clock::now() + kLinger;
    }
    if (Clock::now() >= last_words) break;
  }
  return out;
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* variable = std::getenv("PATH");  // NOLINT: nothing here sets the environment
  for (const std::string_view directory : split(variable == nullptr ? "" : variable, ':')) {
    if (!directory.starts_with('/')) continue;
    std::string path = std::string(directory) + "/" + name;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return "";
}

Ended run_process(const Process& process) {
  Ended result;
  Pipe output;
  Pipe errors;
  const FileDescriptor input = input_file(process.input);
  if (!input || !output.open() || !errors.open()) {
    result.code = errno;
    return result;
  }
  HeldSignals held;
  const SignalFile signals;
  const Spawned started =
      spawn(process, {input.get(), output.write.get(), errors.write.get()}, held.before());
  output.write.reset();
  errors.write.reset();
  if (started.failure != 0) {
    result.code = started.failure;
    return result;
  }
  Child child(started.id);

  const Watched watched =
      watch(process, child, signals,
            {Stream{&output.read, &result.output}, Stream{&errors.read, &result.errors}});
  if (watched.cut_off()) child.end();
  held.release();
  if (watched.signal != 0) ::raise(watched.signal);  // after which we are mostly no more

  if (watched.late) {
    result.how = Ended::How::late;
  } else if (watched.state != Liveness::State::alive) {
    result.how =
        watched.state == Liveness::State::idle ? Ended::How::idle : Ended::How::unconnected;
  } else if (WIFSIGNALED(child.status())) {
    result.how = Ended::How::signalled;
    result.code = WTERMSIG(child.status());
  } else {
    result.how = Ended::How::exited;
    result.code = WEXITSTATUS(child.status());
  }
  return result;
}

}  // namespace gpuctl::base
