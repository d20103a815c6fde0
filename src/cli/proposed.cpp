#include "cli/proposed.hpp"

#include "base/digest.hpp"
#include "git/codes.hpp"
#include "pipeline/version.hpp"
#include "plan/lock.hpp"

namespace gpuctl::cli {
namespace {

constexpr const char* kClusterFolder = "clusters";
constexpr const char* kAttributes = "clusters/.gitattributes";
constexpr const char* kGenerated =
    "# Written by gpuctl, once: reviews show what it renders folded. Change it as you like.\n"
    "* linguist-generated\n";

// A file below `directory` that is not as the lock of its commit says; empty: none. What the base
// has as well is nobody's edit on this branch.
std::string edited_file(const git::Repository& repository, const git::Head& head,
                        const std::string& directory, diag::Sink& sink) {
  const std::string prefix = directory + "/";
  std::string lock_path = prefix + std::string(plan::kLockFile);
  const std::map<std::string, std::string> before = repository.list(head.base, directory, sink);
  const std::map<std::string, std::string> after = repository.list(head.tip, directory, sink);
  std::optional<plan::Lock> lock;
  diag::Sources sources;
  yaml::Arena arena;
  diag::Sink unread;
  if (std::optional<std::string> text = repository.read(head.tip, lock_path, sink)) {
    const std::string name = directory.substr(directory.rfind('/') + 1);
    lock = plan::read_lock(sources.add_file(lock_path, std::move(*text)), name, pipeline::kVersion,
                           {sources, arena, unread});
    if (!lock) return lock_path;
  }
  for (const auto& [path, blob] : after) {
    const auto same = before.find(path);
    if (path == lock_path || (same != before.end() && same->second == blob)) continue;
    if (!lock) return path;
    const auto known = lock->files.find(path.substr(prefix.size()));
    if (known == lock->files.end()) return path;
    const std::optional<std::string> content = repository.read(head.tip, path, sink);
    if (!content || base::sha256_hex(*content) != known->second.sha256) return path;
  }
  return "";
}

}  // namespace

std::optional<git::Proposal> read_proposed(const git::Repository& repository, const git::Head& head,
                                           diag::Sink& sink) {
  if (head.base.empty()) return git::Proposal{};
  std::optional<git::Proposal> out = repository.proposal(kClusterFolder, head.base, head.tip, sink);
  if (!out || !out->obstacle.empty()) return out;
  const std::size_t errors = sink.error_count();
  for (const std::string& directory : out->clusters) {
    const std::string path = edited_file(repository, head, directory, sink);
    if (sink.error_count() != errors) return std::nullopt;
    if (path.empty()) continue;
    out->obstacle = "`" + path + "` was edited on it";
    break;
  }
  return out;
}

std::optional<git::Change> missing_attributes(const git::Repository* repository,
                                              const std::string& start) {
  diag::Sink unread;  // something else in its place counts as one
  const bool there = repository != nullptr && !start.empty() &&
                     (repository->read(start, kAttributes, unread) || unread.has_errors());
  if (there) return std::nullopt;
  return git::Change{.path = kAttributes, .content = kGenerated};
}

void note_kept(const git::Head& head, const std::string& obstacle, diag::Sink& sink) {
  sink.note(git::kBranchKept, diag::kNoOrigin,
            "the plan is made on what branch `" + head.branch + "` has, not anew on its base")
      .note(obstacle)
      .suggest("merge the base into it when it has moved on, or begin with another branch");
}

void warn_settled(const git::Head& head, diag::Sink& sink) {
  sink.warning(git::kBranchSettled, diag::kNoOrigin,
               "branch `" + head.branch + "` proposes what the blueprints do not want any more")
      .note("they are as the base of the branch has them")
      .suggest("delete the branch, or close its pull request");
}

}  // namespace gpuctl::cli
