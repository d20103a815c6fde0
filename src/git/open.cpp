#include "git/open.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/file.hpp"
#include "git/address.hpp"
#include "git/codes.hpp"
#include "git/lock.hpp"

namespace gpuctl::git {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLeftOver = ".gpuctl-init-";

diag::Diagnostic& refuse(std::string_view code, const std::string& path, const std::string& reason,
                         diag::Sink& sink) {
  return sink.error(code, diag::kNoOrigin, "`" + path + "` " + reason);
}

// Only a directory of its own right may be a repository; a link could be redirected under us.
bool check_place(const std::string& path, diag::Sink& sink) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    refuse(kNotARepository, path, "is not a usable path", sink);
    return false;
  }
  if (is_address(path)) {
    refuse(kNotARepository, path, "is an address, not a directory", sink)
        .suggest("a directory of that name is `./" + path + "`");
    return false;
  }
  std::string bare = path;
  while (bare.size() > 1 && bare.back() == '/') bare.pop_back();
  struct stat status {};
  if (::lstat(bare.c_str(), &status) != 0) {
    if (errno == ENOENT) return true;
    refuse(kNotARepository, path, "cannot be opened", sink).note(base::errno_text(errno));
    return false;
  }
  if (S_ISLNK(status.st_mode)) {
    std::error_code ignored;
    const std::string target = fs::read_symlink(bare, ignored).string();
    refuse(kNotARepository, path, "is a symbolic link", sink)
        .suggest("give the directory it points to: `" + target + "`");
    return false;
  }
  if (!S_ISDIR(status.st_mode)) {
    refuse(kNotARepository, path, "is not a directory", sink)
        .suggest("give the directory of a Git repository, or a path that does not exist yet");
    return false;
  }
  return true;
}

std::string local_setting(git_config* config, const char* name) {
  Owned<git_config> local;
  if (git_config_open_level(Receive(local), config, GIT_CONFIG_LEVEL_LOCAL) != 0) return "";
  git_buf value = GIT_BUF_INIT;
  std::string text;
  if (git_config_get_string_buf(&value, local.get(), name) == 0) text = {value.ptr, value.size};
  git_buf_dispose(&value);
  return text;
}

// Refuses what the repository's own configuration would make us misread or write elsewhere.
bool check_format(git_repository* repository, const std::string& path, diag::Sink& sink) {
  Owned<git_config> config;
  if (const int code = git_repository_config(Receive(config), repository); code != 0) {
    report(code, kDamaged, "cannot read the configuration of `" + path + "`", sink);
    return false;
  }
  const std::string hash = local_setting(config.get(), "extensions.objectformat");
  if (!hash.empty() && hash != "sha1") {
    refuse(kUnsupportedRepository, path, "uses the object format `" + hash + "`", sink)
        .expect("`sha1`");
    return false;
  }
  const std::string refs = local_setting(config.get(), "extensions.refstorage");
  if (!refs.empty() && refs != "files") {
    refuse(kUnsupportedRepository, path, "keeps its refs as `" + refs + "`", sink)
        .expect("`files`");
    return false;
  }
  const std::string work_tree = local_setting(config.get(), "core.worktree");
  if (!work_tree.empty()) {
    refuse(kUnsupportedRepository, path, "has its work tree elsewhere", sink)
        .note("`core.worktree` is `" + work_tree + "` (submodules are set up like this)")
        .suggest("use a repository of its own");
    return false;
  }
  const std::string shared = local_setting(config.get(), "core.sharedrepository");
  if (!shared.empty() && shared != "umask" && shared != "false" && shared != "0") {
    refuse(kUnsupportedRepository, path, "is shared between users", sink)
        .note("`core.sharedRepository` is `" + shared + "`, and new files would not be shared")
        .suggest("commit to a clone and push from there");
    return false;
  }
  return true;
}

void report_open_failure(int code, const std::string& path, diag::Sink& sink) {
  const std::string text = last_error();
  if (is_owner_refusal(code)) {
    refuse(kForeignOwner, path, "belongs to another user", sink)
        .note("the directory, its `.git` and its work tree must all be yours")
        .suggest("if you trust it: `git config --global --add safe.directory " +
                 fs::weakly_canonical(path).string() + "`");
  } else if (text.find("unsupported extension") != std::string::npos ||
             text.find("unsupported repository version") != std::string::npos) {
    diag::Diagnostic& error =
        refuse(kUnsupportedRepository, path, "has an unsupported format", sink);
    error.note(text);
    if (text.find("objectformat") != std::string::npos) {
      error.expect("the object format `sha1`").got("another one, such as `sha256`");
    }
    error.suggest("use a repository made by plain `git init`");
  } else if (code == GIT_ENOTFOUND && ::access(path.c_str(), R_OK | X_OK) != 0) {
    refuse(kNotARepository, path, "cannot be read: " + base::errno_text(errno), sink);
  } else if (code == GIT_ENOTFOUND) {
    refuse(kNotARepository, path, "is not a Git repository", sink)
        .suggest("run `git init` there, or choose an empty or new directory");
  } else {
    report(code, kDamaged, "cannot open the repository `" + path + "`", sink);
  }
}

bool fsync_directory(const std::string& path) {
  const base::FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory && ::fsync(directory.get()) == 0;
}

bool initialise(const std::string& directory, bool bare, const std::string& branch,
                diag::Sink& sink) {
  git_repository_init_options options{};
  options.version = GIT_REPOSITORY_INIT_OPTIONS_VERSION;
  options.flags = GIT_REPOSITORY_INIT_NO_REINIT | GIT_REPOSITORY_INIT_MKDIR;
  if (bare) options.flags |= GIT_REPOSITORY_INIT_BARE;
  options.mode = GIT_REPOSITORY_INIT_SHARED_UMASK;
  options.initial_head = branch.c_str();
  Owned<git_repository> made;
  const int code = git_repository_init_ext(Receive(made), directory.c_str(), &options);
  if (code != 0) report(code, kCannotWrite, "cannot create a repository", sink);
  return code == 0;
}

// The paths of a repository that is to be created.
struct Place {
  explicit Place(const std::string& path) : target(path) {
    if (!target.has_filename()) target = target.parent_path();  // a trailing slash
    bare = target.extension() == ".git";
    home = !bare ? target : target.has_parent_path() ? target.parent_path() : fs::path(".");
    git = bare ? target : target / ".git";
  }
  fs::path target;
  fs::path home;  // where it is made, before it gets its name
  fs::path git;   // the directory with objects and refs
  bool bare = false;
};

// mkdir -p that says what it made. 0 or errno.
int make_directories(const fs::path& path, std::vector<std::string>& made) {
  fs::path part;
  for (const fs::path& name : path) {
    part /= name;
    if (::mkdir(part.c_str(), 0777) == 0) {
      made.push_back(part.string());
    } else if (const int code = errno; code != EEXIST) {
      std::error_code ignored;
      if (!fs::is_directory(part, ignored)) return code;  // EISDIR, EROFS come for `/` too
    }
  }
  return 0;
}

bool has_no_branch(const fs::path& git) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(git / "packed-refs", ignored))) return false;
  for (const auto& entry : fs::recursive_directory_iterator(git / "refs", ignored)) {
    if (!entry.is_directory(ignored)) return false;
  }
  return true;
}

}  // namespace

bool is_absent_or_empty(const std::string& path) {
  const auto names = base::list_directory(path);
  if (const auto* error = std::get_if<base::FileError>(&names)) return error->code == ENOENT;
  const auto& list = std::get<std::vector<std::string>>(names);
  return std::all_of(list.begin(), list.end(),
                     [](const std::string& name) { return name.starts_with(kLeftOver); });
}

Owned<git_repository> open_repository(const std::string& path, diag::Sink& sink) {
  ensure_library();
  if (!check_place(path, sink)) return nullptr;
  Owned<git_repository> repository;
  const int code = git_repository_open_ext(Receive(repository), path.c_str(),
                                           GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  if (code != 0) {
    report_open_failure(code, path, sink);
    return nullptr;
  }
  if (!check_format(repository.get(), path, sink)) return nullptr;
  return repository;
}

bool check_links(git_repository* repository, const std::string& branch, diag::Sink& sink) {
  const fs::path own = git_repository_path(repository);
  const fs::path common = git_repository_commondir(repository);
  std::vector<fs::path> written = {
      own / "HEAD",    own / "index",          own / "logs",       own / "logs/HEAD",
      common / "logs", common / "packed-refs", common / "objects", common / "gpuctl.lock"};
  const fs::path name = "refs/heads/" + branch;
  for (const fs::path& top : {common, common / "logs"}) {
    fs::path part = top;
    for (const fs::path& component : name) written.push_back(part /= component);
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(common / "objects", ignored)) {
    if (entry.is_symlink(ignored)) written.push_back(entry.path());
  }
  for (const fs::path& path : written) {
    if (!fs::is_symlink(fs::symlink_status(path, ignored))) continue;
    refuse(kUnsupportedRepository, path.string(), "is a symbolic link", sink)
        .note("what a commit writes would go to where it leads")
        .suggest("commit to a clone of the repository");
    return false;
  }
  return true;
}

std::optional<Creation> create_repository(const std::string& path, const std::string& branch,
                                          diag::Sink& sink) {
  ensure_library();
  if (!check_place(path, sink)) return std::nullopt;
  const Place place(path);
  if (place.target.filename() == ".git") {
    refuse(kNotARepository, path, "names the inside of a repository", sink)
        .suggest("give the directory above it");
    return std::nullopt;
  }
  Creation creation;
  const auto fail = [&](const std::string& text) {
    sink.error(kCannotWrite, diag::kNoOrigin, "cannot create a repository in `" + path + "`")
        .note(text);
    return false;
  };
  // Made in a temporary directory and renamed, so that a crash leaves no half of a repository. A
  // bare one is renamed onto its path; of the other kind `.git` is renamed into the work tree,
  // which may be the current directory and has to stay the same directory.
  creation.into_empty = fs::exists(fs::symlink_status(place.target));
  std::string temporary = (place.home / (std::string(kLeftOver) + "XXXXXX")).string();
  bool done = false;
  if (const int code = make_directories(place.home, creation.directories); code != 0) {
    fail(base::errno_text(code));
  } else if (::mkdtemp(temporary.data()) == nullptr) {
    fail(base::errno_text(errno));
  } else {
    const fs::path made = fs::path(temporary) / (place.bare ? "made.git" : "made");
    if (initialise(made.string(), place.bare, branch, sink)) {
      const fs::path from = place.bare ? made : made / ".git";
      creation.repository = ::rename(from.c_str(), place.git.c_str()) == 0;
      if (creation.repository) {
        done = fsync_directory(place.home.string()) || fail(base::errno_text(errno));
      } else if (errno == ENOTEMPTY || errno == EEXIST) {
        done = true;  // made by somebody else in the meantime
      } else {
        fail(base::errno_text(errno));
      }
    }
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
  }
  if (done) return creation;
  remove_repository(path, creation);
  return std::nullopt;
}

void remove_repository(const std::string& path, const Creation& creation) {
  const Place place(path);
  if (creation.repository) {
    diag::Sink in_use;
    const auto lock =
        RepositoryLock::acquire(place.git.string(), std::chrono::milliseconds(0), in_use);
    if (!lock) return;
    std::string temporary = (place.home / (std::string(kLeftOver) + "XXXXXX")).string();
    if (::mkdtemp(temporary.data()) == nullptr) return;
    const fs::path away = fs::path(temporary) / "made";
    std::error_code ignored;
    if (::rename(place.git.c_str(), away.c_str()) == 0) {
      // Looked at only now, when nobody can put anything in.
      if (!has_no_branch(away)) {
        [[maybe_unused]] const bool back = ::rename(away.c_str(), place.git.c_str()) == 0;
        ::rmdir(temporary.c_str());
        return;
      }
      if (place.bare && creation.into_empty) fs::create_directory(place.target, ignored);
    }
    fs::remove_all(temporary, ignored);
  }
  for (auto made = creation.directories.rbegin(); made != creation.directories.rend(); ++made) {
    ::rmdir(made->c_str());
  }
}

}  // namespace gpuctl::git
