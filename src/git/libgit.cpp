#include "git/libgit.hpp"

#include <array>

#include "git/codes.hpp"
#include "git/load.hpp"

namespace gpuctl::git {
namespace {

// libgit2 keeps no errno; its texts for system errors end in the one of strerror.
constexpr std::array<std::string_view, 6> kWriteRefusals = {
    "No space left on device", "Disk quota exceeded",     "Permission denied",
    "Read-only file system",   "Operation not permitted", "File too large"};

constexpr std::size_t kMostCachedBytes = 16 * 1024 * 1024;

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

class Library {
 public:
  Library() {
    load_library();
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    // The directory that holds all clusters is looked into for each of them, and a commit of many
    // clusters has a long message. The library keeps only objects of up to 4 KiB unless told.
    git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_TREE, kMostCachedBytes);
    git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_COMMIT, kMostCachedBytes);
    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, 1);
    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
  }
  ~Library() { git_libgit2_shutdown(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_write_refusal(std::string_view text) {
  for (const std::string_view known : kWriteRefusals) {
    if (contains(text, known)) return true;
  }
  return false;
}

struct FreeNames {
  void operator()(git_strarray* names) const { git_strarray_dispose(names); }
};

// The remote that objects which are not here have been left at; "" when there is none.
std::string promisor_of(git_repository* repository) {
  git_strarray names{};
  if (git_remote_list(&names, repository) != 0) return "";
  const std::unique_ptr<git_strarray, FreeNames> owner(&names);
  Owned<git_config> config;
  if (git_repository_config(Receive(config), repository) != 0) return "";
  for (std::size_t i = 0; i < names.count; ++i) {
    const std::string setting = "remote." + std::string(names.strings[i]) + ".promisor";
    int promisor = 0;
    if (git_config_get_bool(&promisor, config.get(), setting.c_str()) == 0 && promisor != 0) {
      return names.strings[i];
    }
  }
  return "";
}

}  // namespace

void ensure_library() {
  static const Library library;
}

std::string last_error() {
  const git_error* error = git_error_last();
  return error == nullptr || error->message == nullptr ? "" : error->message;
}

bool is_owner_refusal(int result) {
  return result == GIT_EOWNER ||
         (result == GIT_ENOTFOUND && contains(last_error(), "safe.directory"));
}

diag::Diagnostic& report(int result, std::string_view code, std::string message, diag::Sink& sink) {
  const std::string text = last_error();
  std::string_view chosen = code;
  std::string help;
  if (is_owner_refusal(result)) {
    chosen = kForeignOwner;
  } else if (result == GIT_ELOCKED) {
    chosen = kLocked;
    help = "wait for the other Git process to end; when none runs, remove the lock file it left";
  } else if (is_write_refusal(text)) {
    chosen = kCannotWrite;
    help = "make room or grant access, then run again: nothing was changed on the branch";
  }
  diag::Diagnostic& diagnostic = sink.error(chosen, diag::kNoOrigin, std::move(message));
  if (!text.empty()) diagnostic.note(text);
  if (!help.empty()) diagnostic.suggest(help);
  return diagnostic;
}

void report_unread(git_repository* repository, int result, std::string message, diag::Sink& sink) {
  diag::Diagnostic& error = report(result, kDamaged, std::move(message), sink);
  const std::string remote = result == GIT_ENOTFOUND ? promisor_of(repository) : std::string();
  if (remote.empty()) {
    error.suggest("check the repository with `git fsck`");
    return;
  }
  const char* work_tree = git_repository_workdir(repository);
  const std::string place = work_tree == nullptr ? git_repository_path(repository) : work_tree;
  error.code = kPartialClone;
  error.notes.clear();
  error.note("the repository is a partial clone, which lacks objects of `" + remote +
             "` until git fetches them one by one; gpuctl does not");
  error.suggest("fetch all of them once: `git -C " + place + " fetch --refetch --no-filter " +
                remote + "` (git 2.36)");
  error.suggest("or give gpuctl the address of the repository it was cloned from");
}

std::string hex(const git_oid& id) {
  std::array<char, GIT_OID_HEXSZ> digits{};
  git_oid_fmt(digits.data(), &id);
  return {digits.data(), digits.size()};
}

std::string git_directory_of(git_repository* repository) {
  return without_slashes(git_repository_path(repository));
}

std::string common_directory_of(git_repository* repository) {
  return without_slashes(git_repository_commondir(repository));
}

}  // namespace gpuctl::git
