#include "base/spawn.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace gpuctl::base {
namespace {

constexpr int kCannotStart = 127;

std::vector<std::string> environment_of(const Process& process) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool changed = std::any_of(process.environment.begin(), process.environment.end(),
                                     [&](const Setting& setting) { return setting.name == name; });
    if (!changed) entries.emplace_back(text);
  }
  for (const Setting& setting : process.environment) {
    if (setting.value) entries.push_back(setting.name + "=" + *setting.value);
  }
  return entries;
}

std::vector<char*> raw(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the child: only calls that are safe between fork and exec.
[[noreturn]] void become(const char* program, const char* directory, char* const* arguments,
                         char* const* environment, const Streams& ends, int report,
                         const sigset_t& mask, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  if (::getppid() == parent && ::dup2(ends.input, STDIN_FILENO) >= 0 &&
      ::dup2(ends.output, STDOUT_FILENO) >= 0 && ::dup2(ends.errors, STDERR_FILENO) >= 0 &&
      (*directory == '\0' || ::chdir(directory) == 0)) {
    // What we ignore for ourselves is ignored by the program too. It shall end when nobody reads;
    // but a limit on the size of files it shall report.
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGXFSZ, SIG_IGN);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execve(program, arguments, environment);
  }
  const int code = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &code, sizeof code);
  ::_exit(kCannotStart);
}

// Why a program could not be started (errno); 0 once exec has closed the pipe.
int start_failure(int report) {
  ssize_t told = 0;
  int code = 0;
  do {
    told = ::read(report, &code, sizeof code);
  } while (told < 0 && errno == EINTR);
  return told == sizeof code ? code : 0;
}

}  // namespace

FileDescriptor above_streams(int descriptor) {
  FileDescriptor given(descriptor);
  if (descriptor > STDERR_FILENO) return given;
  return FileDescriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

FileDescriptor input_file(const std::string& text) {
  if (text.empty()) return above_streams(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  FileDescriptor file = above_streams(::memfd_create("input", MFD_CLOEXEC));
  if (!file) return file;
  if (const int code = write_all(file.get(), text); code != 0) {
    errno = code;
    return {};
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

Spawned spawn(const Process& process, const Streams& streams, const sigset_t& mask) {
  std::array<int, 2> ends{};  // closes at exec, or tells why there was none
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {-1, errno};
  const FileDescriptor told = above_streams(ends[0]);
  FileDescriptor report = above_streams(ends[1]);
  if (!told || !report) return {-1, errno};
  std::vector<std::string> words = {process.program};
  words.insert(words.end(), process.arguments.begin(), process.arguments.end());
  std::vector<std::string> settings = environment_of(process);
  const std::vector<char*> arguments = raw(words);
  const std::vector<char*> environment = raw(settings);
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) return {-1, errno};
  if (id == 0) {
    become(process.program.c_str(), process.directory.c_str(), arguments.data(), environment.data(),
           streams, report.get(), mask, parent);
  }
  report.reset();
  const int failure = start_failure(told.get());
  if (failure != 0) {
    while (::waitpid(id, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return {id, failure};
}

}  // namespace gpuctl::base
