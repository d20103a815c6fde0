#include "git/cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "base/file.hpp"
#include "git/codes.hpp"
#include "git/environment.hpp"
#include "git/libgit.hpp"

namespace gpuctl::git {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostStampBytes = 64U << 10U;
// Times that a cache is made again when somebody clears it under our hands.
constexpr int kMostClearings = 5;
// All the configuration a cache has. Git reads this file: another text is none of ours.
constexpr std::string_view kConfig =
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";

constexpr std::string_view kHead = "ref: refs/heads/main\n";

bool refuse(const fs::path& path, const std::string& reason, diag::Sink& sink) {
  sink.error(kCacheUnusable, diag::kNoOrigin,
             "cannot keep a copy of the repository in `" + path.string() + "`")
      .note(reason)
      .suggest("set XDG_CACHE_HOME to a directory of yours, or remove what is in the way");
  return false;
}

// Absolute, as XDG wants it; "" when nothing tells where.
fs::path cache_home() {
  fs::path given = variable("XDG_CACHE_HOME");
  if (given.is_absolute()) return given;
  const fs::path home = variable("HOME");
  return home.is_absolute() ? home / ".cache" : fs::path();
}

// A directory that is ours alone; made when absent.
bool own_directory(const fs::path& path, diag::Sink& sink) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return refuse(path, base::errno_text(errno), sink);
  }
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return refuse(path, base::errno_text(errno), sink);
  if (!S_ISDIR(status.st_mode)) return refuse(path, "it is no directory", sink);
  if (status.st_uid != ::geteuid()) return refuse(path, "it belongs to another user", sink);
  if ((status.st_mode & 0077U) != 0 && ::chmod(path.c_str(), 0700) != 0) {
    return refuse(path, base::errno_text(errno), sink);
  }
  return true;
}

bool has_content(const fs::path& path, std::string_view wanted) {
  const auto content = base::read_file(path, kMostStampBytes);
  const auto* text = std::get_if<std::string>(&content);
  return text != nullptr && *text == wanted;
}

bool is_own_directory(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

// An empty bare repository, without hooks and with our configuration.
bool initialise(const fs::path& path, diag::Sink& sink) {
  ensure_library();
  git_repository_init_options options{};
  options.version = GIT_REPOSITORY_INIT_OPTIONS_VERSION;
  options.flags =
      GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_NO_REINIT | GIT_REPOSITORY_INIT_MKDIR;
  options.mode = GIT_REPOSITORY_INIT_SHARED_UMASK;
  options.initial_head = "main";
  Owned<git_repository> made;
  if (git_repository_init_ext(Receive(made), path.c_str(), &options) != 0) {
    return refuse(path, last_error(), sink);
  }
  std::error_code ignored;
  fs::remove_all(path / "hooks", ignored);
  std::ofstream config(path / "config", std::ios::binary | std::ios::trunc);
  config << kConfig;
  config.close();
  return config ? true : refuse(path, "its configuration cannot be written", sink);
}

// Lock files and unfinished objects of a git program that was killed. Ours was the only one here,
// and we hold the lock now.
void remove_stale_files(const fs::path& repository) {
  std::error_code ignored;
  std::vector<fs::path> stale;
  const auto collect = [&](const fs::directory_entry& entry) {
    if (entry.path().extension() == ".lock" && entry.path().filename() != "gpuctl.lock") {
      stale.push_back(entry.path());
    }
  };
  for (const auto& entry : fs::directory_iterator(repository, ignored)) collect(entry);
  for (const auto& entry : fs::recursive_directory_iterator(repository / "refs", ignored)) {
    collect(entry);
  }
  // Half of an object or pack, or a directory of them.
  for (const char* place : {"objects", "objects/pack"}) {
    for (const auto& entry : fs::directory_iterator(repository / place, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("tmp_") || name.starts_with("pack_git2_")) stale.push_back(entry.path());
    }
  }
  for (const fs::path& file : stale) fs::remove_all(file, ignored);
}

}  // namespace

std::optional<Cache> Cache::open(const Address& address,
                                 std::chrono::steady_clock::time_point deadline, const Say& say,
                                 diag::Sink& sink) {
  const fs::path home = cache_home();
  if (home.empty()) {
    sink.error(kCacheUnusable, diag::kNoOrigin, "there is no place for a copy of the repository")
        .note("neither XDG_CACHE_HOME nor HOME is an absolute path")
        .suggest("set XDG_CACHE_HOME");
    return std::nullopt;
  }
  const fs::path place = home / "gpuctl" / "repositories";
  const std::string directory = (place / (address.name + ".git")).string();
  const std::string lock_file = (place / (address.name + ".lock")).string();
  const std::string of = address.shown;
  const auto wait = [&](const std::string& owner) {
    say("waiting for another run of gpuctl" + (owner.empty() ? "" : " (process " + owner + ")") +
        " on " + of);
  };
  FileLock lock;
  lock.error = ENOENT;
  // Somebody may clear the cache while this waits for the lock in it: then everything is made anew.
  for (int attempt = 0; !lock && lock.error == ENOENT && attempt < kMostClearings; ++attempt) {
    std::error_code error;
    fs::create_directories(home, error);
    if (error) {
      refuse(home, error.message(), sink);
      return std::nullopt;
    }
    if (!own_directory(place.parent_path(), sink) || !own_directory(place, sink)) {
      return std::nullopt;
    }
    lock = FileLock::acquire(lock_file, deadline, wait);
  }
  if (!lock && lock.error == EWOULDBLOCK) {
    diag::Diagnostic& locked = sink.error(kCacheLocked, diag::kNoOrigin,
                                          "another run of gpuctl keeps the copy of `" + of + "`");
    locked.note("lock file: " + lock_file);
    if (!lock.owner.empty()) locked.note("held by process " + lock.owner);
    locked.suggest("wait for that run to end, or give this one more time: `--timeout SECONDS`");
    return std::nullopt;
  }
  if (!lock) {
    refuse(lock_file, base::errno_text(lock.error), sink);
    return std::nullopt;
  }
  lock.note_owner();
  Cache cache(std::move(lock), directory);
  struct stat status {};
  const bool there = ::lstat(directory.c_str(), &status) == 0;
  if (there && cache.is_sound()) {
    remove_stale_files(directory);
    diag::Sink broken;
    if (cache.reopen(broken)) return cache;
  }
  if (there) say("the local copy of " + of + " is damaged: fetching it anew");
  if (!cache.renew(sink)) return std::nullopt;
  return cache;
}

bool Cache::is_sound() const {
  const fs::path path = directory_;
  for (const char* part : {"", "objects", "refs"}) {
    if (!is_own_directory(path / part)) return false;
  }
  std::error_code ignored;
  for (const char* foreign : {"hooks", "commondir", "objects/info/alternates", "config.worktree",
                              "shallow", "info/grafts", "info/attributes"}) {
    if (fs::exists(fs::symlink_status(path / foreign, ignored))) return false;
  }
  return has_content(path / "config", kConfig) && has_content(path / "HEAD", kHead);
}

bool Cache::reopen(diag::Sink& sink) {
  repository_ = Repository::open(directory_, sink);
  return repository_.has_value();
}

bool Cache::renew(diag::Sink& sink) {
  // Neither name is in use by others: we hold the lock. What a killed run left goes as well.
  const fs::path fresh = directory_ + ".new";
  const fs::path old = directory_ + ".old";
  repository_.reset();
  std::error_code error;
  fs::remove_all(fresh, error);
  fs::remove_all(old, error);
  if (!initialise(fresh, sink)) return false;
  if (::rename(directory_.c_str(), old.c_str()) != 0 && errno != ENOENT) {
    return refuse(directory_, base::errno_text(errno), sink);
  }
  if (::rename(fresh.c_str(), directory_.c_str()) != 0) {
    return refuse(directory_, base::errno_text(errno), sink);
  }
  fs::remove_all(old, error);
  new_ = true;
  return reopen(sink);
}

}  // namespace gpuctl::git
