#include "git/checkouts.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "git/codes.hpp"
#include "git/names.hpp"

namespace gpuctl::git {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostStateBytes = std::size_t{1} << 20U;

// A file of Git's without the line end; "" when there is none.
std::string text_of(const fs::path& path) {
  auto content = base::read_file(path, kMostStateBytes);
  auto* text = std::get_if<std::string>(&content);
  if (text == nullptr) return "";
  while (text->ends_with('\n')) text->pop_back();
  return std::move(*text);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

struct Checkout {
  fs::path git;  // its own part of the git directory
  fs::path place;
};

bool is_bare_setting(git_repository* repository) {
  Owned<git_config> config;
  if (git_repository_config(Receive(config), repository) != 0) return false;
  int bare = 0;
  return git_config_get_bool(&bare, config.get(), "core.bare") == 0 && bare != 0;
}

std::vector<Checkout> checkouts(git_repository* repository) {
  std::vector<Checkout> found;
  const fs::path common = common_directory_of(repository);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(common / "worktrees", ignored)) {
    const fs::path place = fs::path(text_of(entry.path() / "gitdir")).parent_path();
    if (!is_there(place) && !is_there(entry.path() / "locked")) continue;
    found.push_back({entry.path(), place});
  }
  std::sort(found.begin(), found.end(),
            [](const Checkout& a, const Checkout& b) { return a.git < b.git; });
  // HEAD of a bare repository is nobody's checkout.
  if (!is_bare_setting(repository)) {
    found.push_back({common, common.filename() == ".git" ? common.parent_path() : common});
  }
  return found;
}

// What is done with the branch while HEAD is elsewhere; "" for nothing. The files are those of
// Git's wt-status.c and branch.c (2.39).
std::string at_work_on(const fs::path& git, const std::string& branch) {
  const std::string name = std::string(kBranches) + branch;
  for (const char* kind : {"rebase-merge", "rebase-apply"}) {
    if (text_of(git / kind / "head-name") == name) return "a rebase";
  }
  // `git rebase --update-refs`: a name, the commit before and the commit after in a line each.
  const std::string updated = text_of(git / "rebase-merge" / "update-refs");
  const std::vector<std::string_view> lines = base::split(updated, '\n');
  if (std::find(lines.begin(), lines.end(), name) != lines.end()) return "a rebase";
  if (is_there(git / "BISECT_LOG") && text_of(git / "BISECT_START") == branch) return "a bisect";
  return "";
}

// Finish or give up, in Git's words.
std::string way_out(const std::string& what, const std::string& at) {
  const std::string git = "`git -C " + at + " ";
  if (what == "a rebase") return git + "rebase --continue` or " + git + "rebase --abort`";
  if (what == "a bisect") return git + "bisect reset`";
  if (what == "a merge") return git + "merge --continue` or " + git + "merge --abort`";
  if (what == "a revert") return git + "revert --continue` or " + git + "revert --abort`";
  if (what == "a cherry-pick") {
    return git + "cherry-pick --continue` or " + git + "cherry-pick --abort`";
  }
  return git + "am --continue` or " + git + "am --abort`";
}

void report_work(const std::string& branch, const std::string& what, const fs::path& place,
                 diag::Sink& sink) {
  sink.error(kBranchInWork, diag::kNoOrigin,
             what + " of branch `" + branch + "` is under way in `" + place.string() + "`")
      .note("a commit would change the branch under its feet")
      .suggest("finish it or give it up: " + way_out(what, place.string()))
      .suggest("or commit to another branch: `--branch NAME`");
}

}  // namespace

std::string under_way(git_repository* repository) {
  switch (git_repository_state(repository)) {
    case GIT_REPOSITORY_STATE_MERGE:
      return "a merge";
    case GIT_REPOSITORY_STATE_REVERT:
    case GIT_REPOSITORY_STATE_REVERT_SEQUENCE:
      return "a revert";
    case GIT_REPOSITORY_STATE_CHERRYPICK:
    case GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE:
      return "a cherry-pick";
    case GIT_REPOSITORY_STATE_BISECT:
      return "a bisect";
    case GIT_REPOSITORY_STATE_REBASE:
    case GIT_REPOSITORY_STATE_REBASE_INTERACTIVE:
    case GIT_REPOSITORY_STATE_REBASE_MERGE:
      return "a rebase";
    case GIT_REPOSITORY_STATE_APPLY_MAILBOX:
    case GIT_REPOSITORY_STATE_APPLY_MAILBOX_OR_REBASE:
      return "an application of patches (`git am`)";
    default:
      return "";
  }
}

bool check_checkouts(git_repository* repository, const std::string& branch, diag::Sink& sink) {
  const fs::path own = git_directory_of(repository);
  const std::string head = "ref: " + std::string(kBranches) + branch;
  for (const Checkout& checkout : checkouts(repository)) {
    const bool is_own = checkout.git == own;
    const bool has_it = text_of(checkout.git / "HEAD") == head;
    std::string what = at_work_on(checkout.git, branch);
    if (what.empty() && is_own && has_it) what = under_way(repository);
    if (!what.empty()) {
      report_work(branch, what, checkout.place, sink);
      return false;
    }
    if (is_own || !has_it) continue;
    sink.error(kCheckedOutElsewhere, diag::kNoOrigin,
               "branch `" + branch + "` is checked out in the work tree `" +
                   checkout.place.string() + "`")
        .note("its files would stay behind the branch, and its next commit would undo this one")
        .suggest("give that work tree: `--repo " + checkout.place.string() + "`")
        .suggest("or commit to another branch: `--branch NAME`");
    return false;
  }
  return true;
}

}  // namespace gpuctl::git
