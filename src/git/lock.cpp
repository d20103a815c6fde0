#include "git/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <thread>
#include <utility>

#include "base/path_check.hpp"
#include "base/text.hpp"
#include "git/codes.hpp"

namespace gpuctl::git {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(20);
constexpr std::size_t kMostNote = 8192;
constexpr auto kSilentFor = std::chrono::milliseconds(500);
constexpr const char* kAnnounced = "-";  // in the place of a lock file's time: not made yet

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

// What the owner wrote: its process id, then perhaps a line about a lock file of Git.
std::string text_of(int descriptor) {
  std::string text(kMostNote, '\0');
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

std::string process_line() {
  return std::to_string(::getpid()) + "\n";
}

std::string owner_of(std::string_view text) {
  const std::string digits(text.substr(0, text.find('\n')));
  return base::parse_integer(digits) ? digits : "";
}

// When a file was made, or last changed where the file system does not keep that; empty without the
// file. The time of change alone is not enough: a write that SIGKILL stops before its first byte
// has set it.
std::string time_made(const std::string& path) {
  struct statx status {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME | STATX_CTIME, &status) !=
      0) {
    return "";
  }
  const bool known = (status.stx_mask & STATX_BTIME) != 0;
  const statx_timestamp& time = known ? status.stx_btime : status.stx_ctime;
  return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
}

// Replaces what a lock file says, so that a kill at any moment leaves the old text or the new one:
// a new text is no shorter than the old, except when what the old one tells of is done.
void overwrite(int descriptor, const std::string& text) {
  // Information for messages and for a run that comes after a kill: a failure changes nothing else.
  [[maybe_unused]] const bool noted =
      ::pwrite(descriptor, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
      ::ftruncate(descriptor, static_cast<off_t>(text.size())) == 0;
}

bool is_before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

// True when no process has the file open; true as well where the file system cannot tell.
bool is_closed(const std::string& path) {
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return false;
  if (::fcntl(file.get(), F_SETLEASE, F_WRLCK) != 0) return errno != EAGAIN && errno != EACCES;
  ::fcntl(file.get(), F_SETLEASE, F_UNLCK);
  return true;
}

// True for a lock file that was made, as far as can be known, by the run that noted at `since` that
// it was going to: it was made soon after, nothing was written to it, and nobody has it open.
bool is_announced(const std::string& path, const struct stat& status, const timespec& since) {
  // Seconds. The call that makes the file follows the note, but a file system that is writing its
  // journal holds that call up: for seconds on a disk that is busy.
  constexpr std::time_t kMoment = 60;
  return status.st_size == 0 && status.st_uid == ::geteuid() && !is_before(status.st_ctim, since) &&
         status.st_ctim.tv_sec - since.tv_sec <= kMoment && is_closed(path);
}

// Removes the lock file that a note written at `since` tells of: announced, still the empty one
// that we made, or with our commit in it. Any other file of that name is somebody else's.
void remove_left_lock(const std::string& git_directory, std::string_view left,
                      const timespec& since) {
  const std::size_t line = left.find('\n');
  if (line == std::string_view::npos || !left.ends_with('\n')) return;
  std::string_view note = left.substr(line + 1);
  if (note.empty()) return;
  note.remove_suffix(1);
  const std::size_t first = note.find(' ');
  const std::size_t second = note.find(' ', first + 1);
  if (second == std::string_view::npos) return;
  const std::string time(note.substr(0, first));
  const std::string commit(note.substr(first + 1, second - first - 1));
  const std::string name(note.substr(second + 1));
  if (!name.starts_with("refs/heads/") || !name.ends_with(".lock") ||
      !base::unsafe_path_reason(name).empty()) {
    return;
  }
  const std::string path = git_directory + "/" + name;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  bool ours = time == kAnnounced ? is_announced(path, status, since)
                                 : status.st_size == 0 && time_made(path) == time;
  if (!ours) {
    const auto content = base::read_file(path, kMostNote);
    const auto* text = std::get_if<std::string>(&content);
    ours = text != nullptr && *text == commit + "\n";
  }
  if (ours) ::unlink(path.c_str());
}

// Objects and packs that libgit2 was writing when the last owner of the lock died: made by this
// user since it took the lock, and open nowhere.
void remove_left_objects(const std::string& git_directory, const timespec& since) {
  const std::string objects = git_directory + "/objects";
  for (const auto& [directory, start] :
       {std::pair(objects, "tmp_object_git2_"), std::pair(objects + "/pack", "pack_git2_")}) {
    const auto names = base::list_directory(directory);
    const auto* list = std::get_if<std::vector<std::string>>(&names);
    for (const std::string& name : list == nullptr ? std::vector<std::string>() : *list) {
      if (!name.starts_with(start)) continue;
      const std::string path = directory + "/" + name;
      struct stat status {};
      if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
          status.st_uid == ::geteuid() && !is_before(status.st_ctim, since) && is_closed(path)) {
        ::unlink(path.c_str());
      }
    }
  }
}

}  // namespace

FileLock FileLock::acquire(const std::string& path, Clock::time_point deadline,
                           const std::function<void(const std::string&)>& waiting) {
  FileLock lock;
  const auto say_at = Clock::now() + kSilentFor;
  bool said = false;
  while (true) {
    base::FileDescriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
    lock.error = file ? 0 : errno;
    if (!file) return lock;
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      lock.error = errno;
      if (lock.error == EINTR) continue;
      lock.owner = owner_of(text_of(file.get()));
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
    lock.left = text_of(file.get());
    lock.left_at = ours.st_mtim;
    lock.error = 0;
    lock.file = std::move(file);
    return lock;
  }
}

void FileLock::note_owner() {
  overwrite(file.get(), process_line());
}

std::optional<RepositoryLock> RepositoryLock::acquire(const std::string& git_directory,
                                                      std::chrono::milliseconds wait,
                                                      diag::Sink& sink) {
  const std::string path = git_directory + "/gpuctl.lock";
  FileLock lock = FileLock::acquire(path, Clock::now() + wait, [](const std::string&) {});
  if (lock) {
    if (!lock.left.empty()) {
      remove_left_lock(git_directory, lock.left, lock.left_at);
      remove_left_objects(git_directory, lock.left_at);
    }
    lock.note_owner();  // now, so that a kill before leaves the note of the one before
    return RepositoryLock(std::move(lock.file), git_directory);
  }
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

RepositoryLock::~RepositoryLock() {
  if (!file_) return;
  [[maybe_unused]] const bool emptied = ::ftruncate(file_.get(), 0) == 0;
}

bool RepositoryLock::is_left(const std::string& git_directory) {
  struct stat status {};
  return ::lstat((git_directory + "/gpuctl.lock").c_str(), &status) == 0 && status.st_size != 0;
}

void RepositoryLock::announce_lock_file(const std::string& file, const std::string& commit) {
  note(kAnnounced, file, commit);
}

void RepositoryLock::note_lock_file(const std::string& file, const std::string& commit) {
  const std::string time = time_made(git_directory_ + "/" + file);
  if (!time.empty()) note(time, file, commit);
}

void RepositoryLock::forget_lock_file() {
  overwrite(file_.get(), process_line());
}

void RepositoryLock::note(const std::string& time, const std::string& file,
                          const std::string& commit) {
  const std::string text = process_line() + time + " " + commit + " " + file + "\n";
  if (text.size() <= kMostNote) overwrite(file_.get(), text);
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
