#include "base/supervised.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <vector>

#include "base/spawn.hpp"
#include "base/text.hpp"

namespace gpuctl::base {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPause{20};
constexpr std::size_t kMostStatBytes = 4096;

// Fields of /proc/PID/stat from the third on (proc(5)): the second is a name in parentheses, which
// may hold anything.
constexpr std::size_t kState = 0;
constexpr std::size_t kSession = 3;
constexpr std::size_t kStart = 19;

std::vector<std::string> stat_fields(pid_t id) {
  auto read = read_file("/proc/" + std::to_string(id) + "/stat", kMostStatBytes);
  const auto* text = std::get_if<std::string>(&read);
  if (text == nullptr) return {};
  const std::size_t name_end = text->rfind(") ");
  if (name_end == std::string::npos) return {};
  std::vector<std::string> fields;
  for (const std::string_view field : split(std::string_view(*text).substr(name_end + 2), ' ')) {
    fields.emplace_back(field);
  }
  return fields.size() > kStart ? fields : std::vector<std::string>();
}

bool is_alive(const std::vector<std::string>& fields) {
  return !fields.empty() && fields[kState] != "Z" && fields[kState] != "X";
}

// Where its program lies; "" when that is not to be known.
std::string executable(pid_t id) {
  std::string path(4096, '\0');
  const ssize_t size =
      ::readlink(("/proc/" + std::to_string(id) + "/exe").c_str(), path.data(), path.size());
  path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return path;
}

// A session's number is that of its first process, and stays as long as one of it lives.
bool began_after(const std::vector<std::string>& fields, const std::string& start) {
  const auto own = parse_integer(fields[kStart]);
  const auto leaders = parse_integer(start);
  return own && leaders && *own >= *leaders;
}

std::vector<pid_t> leftovers(const ProcessIdentity& leader, const std::string& directory) {
  std::vector<pid_t> found;
  auto listed = list_directory("/proc");
  const auto* names = std::get_if<std::vector<std::string>>(&listed);
  if (names == nullptr) return found;
  for (const std::string& name : *names) {
    const auto number = parse_integer(name);
    if (!number || *number <= 1) continue;
    const auto id = static_cast<pid_t>(*number);
    if (id == ::getpid()) continue;
    const std::vector<std::string> fields = stat_fields(id);
    if (!is_alive(fields)) continue;
    const bool of_session = leader.id > 0 && fields[kSession] == std::to_string(leader.id) &&
                            began_after(fields, leader.start);
    const bool of_directory = !directory.empty() && executable(id).starts_with(directory + "/");
    if (of_session || of_directory) found.push_back(id);
  }
  return found;
}

}  // namespace

bool lives(const ProcessIdentity& process) {
  const std::vector<std::string> fields = stat_fields(process.id);
  return is_alive(fields) && fields[kStart] == process.start;
}

std::variant<Supervised, FileError> Supervised::start(const Process& process,
                                                      const std::string& output) {
  const FileDescriptor words = above_streams(
      ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!words) return FileError{output, errno, errno_text(errno)};
  const FileDescriptor input = input_file(process.input);
  if (!input) return FileError{process.program, errno, errno_text(errno)};
  sigset_t none;
  ::sigemptyset(&none);
  const Spawned started = spawn(process, {input.get(), words.get(), words.get()}, none);
  if (started.failure != 0) {
    return FileError{process.program, started.failure, errno_text(started.failure)};
  }
  const std::vector<std::string> fields = stat_fields(started.id);
  return Supervised({started.id, fields.empty() ? std::string() : fields[kStart]});
}

bool Supervised::wait(milliseconds time) {
  const auto limit = Clock::now() + time;
  while (!done_) {
    int status = 0;
    const pid_t found = ::waitpid(identity_.id, &status, WNOHANG);
    if (found == identity_.id) {
      done_ = true;
      const bool killed = WIFSIGNALED(status);
      ended_.how = killed ? Ended::How::signalled : Ended::How::exited;
      ended_.code = killed ? WTERMSIG(status) : WEXITSTATUS(status);
    } else if (found < 0 && errno != EINTR) {
      done_ = true;  // somebody else has reaped it
      ended_.how = Ended::How::signalled;
    } else if (Clock::now() >= limit) {
      return false;
    } else {
      ::poll(nullptr, 0, static_cast<int>(std::min(kPause, time).count()));
    }
  }
  return true;
}

void Supervised::ask_to_end() const {
  if (!done_) ::kill(-identity_.id, SIGTERM);
}

std::size_t end_leftovers(const ProcessIdentity& leader, const std::string& directory,
                          milliseconds grace) {
  const std::vector<pid_t> first = leftovers(leader, directory);
  for (const pid_t id : first) ::kill(id, SIGTERM);
  const auto limit = Clock::now() + grace;
  std::vector<pid_t> left = leftovers(leader, directory);
  while (!left.empty() && Clock::now() < limit) {
    ::poll(nullptr, 0, static_cast<int>(kPause.count()));
    left = leftovers(leader, directory);
  }
  // What they start meanwhile is found by looking again.
  while (!left.empty()) {
    for (const pid_t id : left) ::kill(id, SIGKILL);
    ::poll(nullptr, 0, static_cast<int>(kPause.count()));
    left = leftovers(leader, directory);
  }
  return first.size();
}

}  // namespace gpuctl::base
