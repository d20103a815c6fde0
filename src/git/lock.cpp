#include "git/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <thread>

#include "base/text.hpp"
#include "git/codes.hpp"

namespace gpuctl::git {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(20);
constexpr auto kPatience = std::chrono::milliseconds(500);

bool exists(const std::string& file) {
  struct stat status {};
  return ::lstat(file.c_str(), &status) == 0;
}

std::string age_text(std::time_t seconds) {
  const auto plural = [](std::time_t count, const std::string& unit) {
    return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
  };
  if (seconds < 120) return plural(std::max<std::time_t>(seconds, 0), "second");
  if (seconds < 7200) return plural(seconds / 60, "minute");
  if (seconds < 172800) return plural(seconds / 3600, "hour");
  return plural(seconds / 86400, "day");
}

// The process id that the owner wrote; "" when there is none.
std::string owner_of(int descriptor) {
  std::string digits(20, '\0');
  const ssize_t count = ::pread(descriptor, digits.data(), digits.size(), 0);
  digits.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  digits.resize(std::min(digits.find('\n'), digits.size()));
  return base::parse_integer(digits) ? digits : "";
}

}  // namespace

FileLock FileLock::acquire(const std::string& path, Clock::time_point deadline,
                           const std::function<void(const std::string&)>& waiting) {
  FileLock lock;
  const auto say_at = Clock::now() + kPatience;
  bool said = false;
  while (true) {
    base::FileDescriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
    lock.error = file ? 0 : errno;
    if (!file) return lock;
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      lock.error = errno;
      if (lock.error == EINTR) continue;
      lock.owner = owner_of(file.get());
      if (lock.error != EWOULDBLOCK || Clock::now() >= deadline) return lock;
      if (!said && Clock::now() >= say_at) {
        waiting(lock.owner);
        said = true;
      }
      std::this_thread::sleep_for(kPause);
    }
    struct stat ours {};
    struct stat there {};
    if (::fstat(file.get(), &ours) != 0 || ::stat(path.c_str(), &there) != 0 ||
        ours.st_ino != there.st_ino || ours.st_dev != there.st_dev) {
      continue;  // removed while we waited: whoever comes now locks another file
    }
    // Only information for messages: a failure to write it changes nothing.
    const std::string owner = std::to_string(::getpid()) + "\n";
    [[maybe_unused]] const bool noted =
        ::ftruncate(file.get(), 0) == 0 && ::pwrite(file.get(), owner.data(), owner.size(), 0) > 0;
    lock.error = 0;
    lock.file = std::move(file);
    return lock;
  }
}

std::optional<RepositoryLock> RepositoryLock::acquire(const std::string& git_directory,
                                                      std::chrono::milliseconds wait,
                                                      diag::Sink& sink) {
  const std::string path = git_directory + "/gpuctl.lock";
  FileLock lock = FileLock::acquire(path, Clock::now() + wait, [](const std::string&) {});
  if (lock) return RepositoryLock(std::move(lock.file));
  if (lock.error == EWOULDBLOCK) {
    diag::Diagnostic& diagnostic =
        sink.error(kLocked, diag::kNoOrigin, "repository is locked by another run of gpuctl");
    diagnostic.note("lock file: " + path);
    if (!lock.owner.empty()) diagnostic.note("held by process " + lock.owner);
    diagnostic.suggest("wait for that run to end, then run again");
  } else {
    sink.error(kCannotWrite, diag::kNoOrigin, "cannot lock `" + path + "`")
        .note(base::errno_text(lock.error));
  }
  return std::nullopt;
}

void report_lock_file(const std::string& file, diag::Sink& sink) {
  struct stat status {};
  diag::Diagnostic& diagnostic =
      sink.error(kLocked, diag::kNoOrigin, "repository is locked: `" + file + "` exists");
  if (::lstat(file.c_str(), &status) == 0) {
    diagnostic.note("the lock file is " + age_text(std::time(nullptr) - status.st_mtime) + " old");
  }
  diagnostic.suggest("wait for the other Git process; when none runs, remove the file by hand");
}

bool wait_for_lock_files(const std::vector<std::string>& files, std::chrono::milliseconds wait,
                         diag::Sink& sink) {
  const auto deadline = Clock::now() + wait;
  while (true) {
    const auto held = std::find_if(files.begin(), files.end(), exists);
    if (held == files.end()) return true;
    if (Clock::now() >= deadline) {
      report_lock_file(*held, sink);
      return false;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace gpuctl::git
