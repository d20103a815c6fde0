#include "git/work_tree.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/output_tree.hpp"
#include "git/codes.hpp"

namespace gpuctl::git {
namespace {

using base::FileError;
using base::OutputTree;

// A file this big is never ours; it counts as changed without being read.
constexpr std::size_t kMostFileBytes = std::size_t{256} << 20U;
constexpr std::size_t kMostNamed = 10;

bool same(const std::optional<git_oid>& a, const std::optional<git_oid>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return git_oid_equal(&*a, &*b) != 0;
}

class WorkTreeUpdate {
 public:
  WorkTreeUpdate(OutputTree files, Owned<git_index> index, std::string root)
      : files_(std::move(files)), index_(std::move(index)), root_(std::move(root)) {}

  void update(const AppliedChange& applied) {
    const std::string& path = applied.change->path;
    const git_index_entry* entry = git_index_get_bypath(index_.get(), path.c_str(), 0);
    std::optional<git_oid> staged;
    if (entry != nullptr) staged = entry->id;
    const bool sparse =
        entry != nullptr && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0;
    if (in_conflict(path)) return leave(path, "is in a merge conflict");
    if (!same(staged, applied.before) && !same(staged, applied.after)) {
      return leave(path, "has staged changes");
    }

    auto looked = files_.look(path, kMostFileBytes);
    if (const auto* error = std::get_if<FileError>(&looked)) return leave(path, error->text);
    const auto& seen = std::get<OutputTree::Seen>(looked);
    if (seen.kind == OutputTree::Seen::Kind::other) {
      // With the old file deleted, a directory that grows in its place is not in the way.
      if (!applied.after && entry == nullptr) return;
      return leave(path, "is no ordinary file in the work tree");
    }
    std::optional<git_oid> present;
    if (seen.kind == OutputTree::Seen::Kind::file) {
      git_oid id{};
      if (git_odb_hash(&id, seen.content.data(), seen.content.size(), GIT_OBJECT_BLOB) != 0) {
        return leave(path, last_error());
      }
      present = id;
    }
    bool current = same(present, applied.after) || (sparse && !present);
    if (!current) {
      if (!same(present, applied.before)) {
        leave(path, applied.before ? "has changes" : "was there before");
      } else if (const auto error = replace(applied)) {
        leave(path, error->text);
      } else {
        current = true;
      }
    }
    // The index follows even where the file stays: the user's version then shows as a change that
    // is not staged, instead of as a staged reversal of this commit.
    stage(applied, current && !sparse, sparse);
  }

  void finish(diag::Sink& sink) {
    if (const int code = git_index_write(index_.get()); code != 0) {
      left_.emplace_back("the index", last_error());
    }
    if (left_.empty()) return;
    diag::Diagnostic& warning =
        sink.warning(kWorkTreeNotUpdated, diag::kNoOrigin,
                     "the work tree was not updated for " + std::to_string(left_.size()) +
                         (left_.size() == 1 ? " file" : " files"));
    for (std::size_t i = 0; i < std::min(left_.size(), kMostNamed); ++i) {
      warning.note("`" + left_[i].first + "`: " + left_[i].second);
    }
    if (left_.size() > kMostNamed) {
      warning.note("and " + std::to_string(left_.size() - kMostNamed) + " more");
    }
    warning.note("the commit is complete; your files were left as they are");
    warning.suggest(
        "see `git status`; `git restore --source=HEAD --staged --worktree PATH` takes the "
        "committed version");
  }

 private:
  void leave(const std::string& path, std::string reason) {
    left_.emplace_back(path, std::move(reason));
  }

  bool in_conflict(const std::string& path) const {
    for (int stage = 1; stage <= 3; ++stage) {
      if (git_index_get_bypath(index_.get(), path.c_str(), stage) != nullptr) return true;
    }
    return false;
  }

  std::optional<FileError> replace(const AppliedChange& applied) {
    const std::string& path = applied.change->path;
    if (!applied.after) return files_.remove(path);
    return files_.write(path, *applied.change->content,
                        applied.mode == GIT_FILEMODE_BLOB_EXECUTABLE ? base::FileMode::executable
                                                                     : base::FileMode::plain);
  }

  void stage(const AppliedChange& applied, bool with_status, bool sparse) {
    const std::string& path = applied.change->path;
    if (!applied.after) {
      git_index_remove(index_.get(), path.c_str(), 0);  // absent already is as good
      return;
    }
    git_index_entry entry{};
    entry.id = *applied.after;
    entry.mode = applied.mode;
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
    if (git_index_add(index_.get(), &entry) != 0) leave(path, last_error());
  }

  OutputTree files_;
  Owned<git_index> index_;
  std::string root_;  // ends in a slash
  std::vector<std::pair<std::string, std::string>> left_;
};

void give_up(const std::string& reason, diag::Sink& sink) {
  sink.warning(kWorkTreeNotUpdated, diag::kNoOrigin, "the work tree was not updated")
      .note(reason)
      .note("the commit is complete; your files were left as they are")
      .suggest("bring the work tree along with `git status` and `git restore`");
}

}  // namespace

void update_work_tree(git_repository* repository, std::span<const AppliedChange> applied,
                      diag::Sink& sink) {
  const char* root = git_repository_workdir(repository);
  if (root == nullptr) return;
  Owned<git_index> index;
  int code = git_repository_index(Receive(index), repository);
  if (code == 0) code = git_index_read(index.get(), 1);
  if (code != 0) {
    return give_up("the index cannot be read: " + last_error(), sink);
  }
  auto files = OutputTree::open(root);
  if (const auto* error = std::get_if<FileError>(&files)) {
    return give_up(error->path + ": " + error->text, sink);
  }
  WorkTreeUpdate update(std::move(std::get<OutputTree>(files)), std::move(index), root);
  // Removals first: a directory may stand where a file was, and the reverse.
  for (const AppliedChange& change : applied) {
    if (!change.after) update.update(change);
  }
  for (const AppliedChange& change : applied) {
    if (change.after) update.update(change);
  }
  update.finish(sink);
}

}  // namespace gpuctl::git
