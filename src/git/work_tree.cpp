#include "git/work_tree.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <variant>

#include "git/codes.hpp"

namespace gpuctl::git {
namespace {

using base::FileError;
using base::OutputTree;

// A file this big is never ours; it counts as changed without being read.
constexpr std::size_t kMostFileBytes = std::size_t{256} << 20U;
constexpr std::size_t kMostNamed = 10;

constexpr std::string_view kComplete = "the commit is complete";

bool same(const std::optional<git_oid>& a, const std::optional<git_oid>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return git_oid_equal(&*a, &*b) != 0;
}

std::optional<git_oid> blob_of(std::string_view content) {
  git_oid id{};
  if (git_odb_hash(&id, content.data(), content.size(), GIT_OBJECT_BLOB) != 0) return std::nullopt;
  return id;
}

// True when something of the user's is in the way, as opposed to a system that refuses.
bool is_in_the_way(const FileError& error) {
  return error.code == 0 || error.code == ELOOP || error.code == ENOTDIR || error.code == EISDIR ||
         error.code == EEXIST || error.code == ENOTEMPTY;
}

std::string files(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " file" : " files");
}

void name_all(const std::vector<std::pair<std::string, std::string>>& rows,
              diag::Diagnostic& diagnostic) {
  for (std::size_t i = 0; i < std::min(rows.size(), kMostNamed); ++i) {
    diagnostic.note("`" + rows[i].first + "`: " + rows[i].second);
  }
  if (rows.size() > kMostNamed) {
    diagnostic.note("and " + std::to_string(rows.size() - kMostNamed) + " more");
  }
}

}  // namespace

std::optional<WorkTree> WorkTree::open(git_repository* repository, const std::string& mark,
                                       std::chrono::milliseconds wait, diag::Sink& sink) {
  const std::string git_directory = git_directory_of(repository);
  std::optional<IndexLock> lock = IndexLock::acquire(git_directory, wait, sink);
  if (!lock) return std::nullopt;
  std::string reason;
  Owned<git_index> index = lock->read(reason);
  if (!index) {
    sink.error(kDamaged, diag::kNoOrigin, "cannot read the index of the work tree")
        .note("`" + git_directory + "/index`: " + reason)
        .suggest(
            "see what `git status` says of it; without a split or sparse index gpuctl can read "
            "it: `git update-index --no-split-index`, `git sparse-checkout reapply "
            "--no-sparse-index`")
        .suggest("or commit to a bare repository, or to another branch: `--branch NAME`");
    return std::nullopt;
  }
  const std::string root = git_repository_workdir(repository);
  auto files = OutputTree::open(root, {.mark = mark});
  if (const auto* error = std::get_if<FileError>(&files)) {
    sink.error(kCannotWrite, diag::kNoOrigin, "cannot open the work tree `" + root + "`")
        .note(error->text)
        .suggest("grant access, then run again: nothing was changed on the branch");
    return std::nullopt;
  }
  return WorkTree(repository, std::move(*lock), std::move(index),
                  std::move(std::get<OutputTree>(files)), root);
}

WorkTree::Outcome WorkTree::update(std::span<const FileUpdate> updates, diag::Sink& sink) {
  // Removals first: a directory may stand where a file was, and the reverse.
  for (const FileUpdate& file : updates) {
    if (!file.after) update(file);
  }
  for (const FileUpdate& file : updates) {
    if (file.after) update(file);
  }
  std::string reason;
  if (!lock_.write(index_.get(), reason)) fail("the index", reason);
  if (!lock_.release()) fail("index.lock", "cannot be removed");
  return report(sink);
}

void WorkTree::update(const FileUpdate& update) {
  const std::string& path = update.path;
  const git_index_entry* entry = git_index_get_bypath(index_.get(), path.c_str(), 0);
  std::optional<git_oid> staged;
  if (entry != nullptr) staged = entry->id;
  const bool sparse =
      entry != nullptr && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0;
  if (in_conflict(path)) return keep(path, "is in a merge conflict");
  if (!same(staged, update.before) && !same(staged, update.after)) {
    return keep(path, "has staged changes");
  }

  auto looked = files_.look(path, kMostFileBytes);
  if (const auto* error = std::get_if<FileError>(&looked)) return refuse(path, *error);
  const auto& seen = std::get<OutputTree::Seen>(looked);
  if (seen.kind == OutputTree::Seen::Kind::other) {
    // With the old file deleted, a directory that grows in its place is not in the way.
    if (!update.after && entry == nullptr) return;
    return keep(path, "is no ordinary file in the work tree");
  }
  std::optional<git_oid> present;
  if (seen.kind == OutputTree::Seen::Kind::file) present = blob_of(seen.content);
  bool current = is_content(update.after, present, path, seen.content) || (sparse && !present);
  bool changed = !same(staged, update.after);
  if (!current) {
    if (!is_content(update.before, present, path, seen.content)) {
      keep(path, update.before ? "has changes" : "was there before");
    } else if (const auto error = replace(update)) {
      refuse(path, *error);
    } else {
      current = changed = true;
    }
  }
  if (changed) ++updated_;
  // The index follows even where the file stays: the user's version then shows as a change that
  // is not staged, instead of as a staged reversal of this commit.
  stage(update, current && !sparse, sparse);
}

void WorkTree::keep(const std::string& path, std::string reason) {
  kept_.emplace_back(path, std::move(reason));
}

void WorkTree::fail(const std::string& path, std::string reason) {
  failed_.emplace_back(path, std::move(reason));
}

void WorkTree::refuse(const std::string& path, const FileError& error) {
  (is_in_the_way(error) ? kept_ : failed_).emplace_back(path, error.text);
}

bool WorkTree::in_conflict(const std::string& path) const {
  for (int stage = 1; stage <= 3; ++stage) {
    if (git_index_get_bypath(index_.get(), path.c_str(), stage) != nullptr) return true;
  }
  return false;
}

// True when the file is what is wanted, as it stands or with the line endings that Git converts
// (`core.autocrlf`, `.gitattributes`). libgit2 has these two conversions built in and runs no
// programs.
bool WorkTree::is_content(const std::optional<git_oid>& wanted, const std::optional<git_oid>& raw,
                          const std::string& path, const std::string& content) const {
  if (same(raw, wanted)) return true;
  if (!raw || !wanted) return false;
  git_filter_list* filters = nullptr;
  if (git_filter_list_load(&filters, repository_, nullptr, path.c_str(), GIT_FILTER_TO_ODB,
                           GIT_FILTER_ALLOW_UNSAFE) != 0 ||
      filters == nullptr) {
    return false;
  }
  git_buf converted = GIT_BUF_INIT;
  const int code =
      git_filter_list_apply_to_buffer(&converted, filters, content.data(), content.size());
  const std::optional<git_oid> clean =
      code == 0 ? blob_of({converted.ptr, converted.size}) : std::nullopt;
  git_buf_dispose(&converted);
  git_filter_list_free(filters);
  return clean && same(clean, wanted);
}

std::optional<FileError> WorkTree::replace(const FileUpdate& update) {
  if (!update.after) return files_.remove(update.path);
  const auto mode = update.mode == GIT_FILEMODE_BLOB_EXECUTABLE ? base::FileMode::executable
                                                                : base::FileMode::plain;
  if (update.content != nullptr) return files_.write(update.path, *update.content, mode);
  Owned<git_blob> blob;
  if (git_blob_lookup(Receive(blob), repository_, &*update.after) != 0) {
    return FileError{update.path, EIO, last_error()};
  }
  const std::string_view content(static_cast<const char*>(git_blob_rawcontent(blob.get())),
                                 static_cast<std::size_t>(git_blob_rawsize(blob.get())));
  return files_.write(update.path, content, mode);
}

void WorkTree::stage(const FileUpdate& update, bool with_status, bool sparse) {
  const std::string& path = update.path;
  if (!update.after) {
    git_index_remove(index_.get(), path.c_str(), 0);  // absent already is as good
    return;
  }
  git_index_entry entry{};
  entry.id = *update.after;
  entry.mode = update.mode;
  entry.path = path.c_str();
  if (sparse) entry.flags_extended = GIT_INDEX_ENTRY_SKIP_WORKTREE;
  struct stat status {};
  // The times let `git status` trust the entry without reading the file.
  if (with_status && ::lstat((root_ + path).c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    entry.ctime = {static_cast<std::int32_t>(status.st_ctim.tv_sec),
                   static_cast<std::uint32_t>(status.st_ctim.tv_nsec)};
    entry.mtime = {static_cast<std::int32_t>(status.st_mtim.tv_sec),
                   static_cast<std::uint32_t>(status.st_mtim.tv_nsec)};
    entry.dev = static_cast<std::uint32_t>(status.st_dev);
    entry.ino = static_cast<std::uint32_t>(status.st_ino);
    entry.uid = status.st_uid;
    entry.gid = status.st_gid;
    entry.file_size = static_cast<std::uint32_t>(status.st_size);
  }
  if (git_index_add(index_.get(), &entry) != 0) fail(path, last_error());
}

void WorkTree::remove_temporaries(std::span<const FileUpdate> updates) {
  std::set<std::string> directories;
  for (const FileUpdate& update : updates) {
    const std::size_t slash = update.path.rfind('/');
    directories.insert(slash == std::string::npos ? "" : update.path.substr(0, slash));
  }
  for (const std::string& directory : directories) files_.remove_marked(directory);
}

WorkTree::Outcome WorkTree::report(diag::Sink& sink) const {
  if (!failed_.empty()) {
    diag::Diagnostic& error =
        sink.error(kCheckoutFailed, diag::kNoOrigin,
                   "the branch has the commit, but the work tree could not be updated for " +
                       files(failed_.size()));
    name_all(failed_, error);
    error.note(std::string(kComplete) + "; a `git commit --all` now would take parts of it back");
    error.suggest("make room or grant access, then run gpuctl again: it finishes the work tree");
    error.suggest(
        "or by hand: `git restore --source=HEAD --staged --worktree PATH` takes the committed "
        "version");
  }
  if (!kept_.empty()) {
    diag::Diagnostic& warning =
        sink.warning(kWorkTreeNotUpdated, diag::kNoOrigin,
                     "the work tree was not updated for " + files(kept_.size()));
    name_all(kept_, warning);
    warning.note(std::string(kComplete) + "; your files were left as they are");
    warning.suggest(
        "see `git status`; `git restore --source=HEAD --staged --worktree PATH` takes the "
        "committed version");
  }
  if (!failed_.empty()) return Outcome::failed;
  return kept_.empty() ? Outcome::complete : Outcome::kept;
}

}  // namespace gpuctl::git
