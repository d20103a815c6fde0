#include "git/index_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>
#include <variant>

#include "base/file.hpp"
#include "git/codes.hpp"
#include "git/lock.hpp"

namespace gpuctl::git {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kIndexPause = std::chrono::milliseconds(20);
// Of some million files; what is larger is no index.
constexpr std::size_t kMostIndexBytes = std::size_t{1} << 30U;

std::string index_of(const std::string& git_directory) {
  return git_directory + "/index";
}
std::string lock_of(const std::string& git_directory) {
  return git_directory + "/index.lock";
}
// The first name of the lock file.
std::string own_of(const std::string& git_directory) {
  return git_directory + "/gpuctl-index-lock";
}
// Where the new index is made.
std::string fresh_of(const std::string& git_directory) {
  return git_directory + "/gpuctl-index";
}

bool make(const std::string& path) {
  const base::FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  return static_cast<bool>(file);
}

// 0, or errno: EEXIST when somebody has the lock.
int try_lock(const std::string& own, const std::string& lock) {
  if (::link(own.c_str(), lock.c_str()) == 0) return 0;
  const bool no_links = errno == EPERM || errno == ENOTSUP || errno == EMLINK || errno == ENOSYS;
  if (!no_links) return errno;
  // A file system without second names: what a killed run leaves there stays.
  return make(lock) ? 0 : errno;
}

bool copy(const std::string& from, const std::string& to, std::string& reason) {
  const auto content = base::read_file(from, kMostIndexBytes);
  if (const auto* error = std::get_if<base::FileError>(&content)) {
    if (error->code == ENOENT) return true;  // nothing is staged at all
    reason = error->text;
    return false;
  }
  base::FileDescriptor file(
      ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  int code = file ? base::write_all(file.get(), std::get<std::string>(content)) : errno;
  if (const int closed = file ? file.close() : 0; code == 0) code = closed;
  reason = base::errno_text(code);
  return code == 0;
}

}  // namespace

IndexLock::IndexLock(IndexLock&& other) noexcept
    : git_directory_(std::exchange(other.git_directory_, {})) {}

IndexLock& IndexLock::operator=(IndexLock&& other) noexcept {
  std::swap(git_directory_, other.git_directory_);
  return *this;
}

std::optional<IndexLock> IndexLock::acquire(const std::string& git_directory,
                                            std::chrono::milliseconds wait, diag::Sink& sink) {
  const std::string own = own_of(git_directory);
  const std::string lock = lock_of(git_directory);
  remove_left(git_directory);
  int code = make(own) ? 0 : errno;
  if (code == 0) {
    const auto deadline = Clock::now() + wait;
    while ((code = try_lock(own, lock)) == EEXIST && Clock::now() < deadline) {
      std::this_thread::sleep_for(kIndexPause);
    }
  }
  if (code == 0) return IndexLock(git_directory);
  ::unlink(own.c_str());
  if (code == EEXIST) {
    report_lock_file(lock, sink);
  } else {
    sink.error(kCannotWrite, diag::kNoOrigin, "cannot lock the index of the work tree")
        .note("`" + lock + "`: " + base::errno_text(code))
        .suggest("make room or grant access, then run again: nothing was changed on the branch");
  }
  return std::nullopt;
}

bool IndexLock::is_left(const std::string& git_directory) {
  struct stat ours {};
  return ::lstat(own_of(git_directory).c_str(), &ours) == 0;
}

void IndexLock::remove_left(const std::string& git_directory) {
  const std::string own = own_of(git_directory);
  struct stat ours {};
  if (::lstat(own.c_str(), &ours) != 0) return;
  const std::string lock = lock_of(git_directory);
  struct stat there {};
  // As long as the first name exists no other file can get its number.
  if (::lstat(lock.c_str(), &there) == 0 && there.st_ino == ours.st_ino &&
      there.st_dev == ours.st_dev && ::unlink(lock.c_str()) != 0) {
    return;
  }
  const std::string fresh = fresh_of(git_directory);
  ::unlink(fresh.c_str());
  ::unlink((fresh + ".lock").c_str());
  ::unlink(own.c_str());
}

Owned<git_index> IndexLock::read(std::string& reason) const {
  const std::string fresh = fresh_of(git_directory_);
  ::unlink(fresh.c_str());
  if (!copy(index_of(git_directory_), fresh, reason)) return nullptr;
  Owned<git_index> index;
  if (git_index_open(Receive(index), fresh.c_str()) != 0) {
    // The words of libgit2 are about the copy.
    reason = "it is damaged, or of a form that gpuctl cannot read";
    index.reset();
  }
  return index;
}

bool IndexLock::write(git_index* index, std::string& reason) const {
  if (git_index_write(index) != 0) {
    reason = last_error();
    return false;
  }
  const std::string fresh = fresh_of(git_directory_);
  if (::rename(fresh.c_str(), index_of(git_directory_).c_str()) == 0) return true;
  reason = base::errno_text(errno);
  return false;
}

bool IndexLock::release() {
  if (git_directory_.empty()) return true;
  const std::string git_directory = std::exchange(git_directory_, {});
  const std::string fresh = fresh_of(git_directory);
  ::unlink(fresh.c_str());
  if (::unlink(lock_of(git_directory).c_str()) != 0 && errno != ENOENT) return false;
  ::unlink(own_of(git_directory).c_str());
  return true;
}

}  // namespace gpuctl::git
