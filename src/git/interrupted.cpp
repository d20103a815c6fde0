// What a run that was killed has left to do in a work tree.
#include <memory>
#include <vector>

#include "git/checkout_record.hpp"
#include "git/checkouts.hpp"
#include "git/codes.hpp"
#include "git/index_lock.hpp"
#include "git/lock.hpp"
#include "git/repository.hpp"
#include "git/state.hpp"
#include "git/work_tree.hpp"

namespace gpuctl::git {
namespace {

struct FreeDiff {
  void operator()(git_diff* diff) const { git_diff_free(diff); }
};

std::string short_id(const std::string& id) {
  constexpr std::size_t kShortId = 12;
  return id.substr(0, kShortId);
}

bool is_file(std::uint16_t mode) {
  return mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE;
}

// True when HEAD has what the interrupted commit has at `path`: what was committed since by hand
// goes its own way.
bool is_in_head(git_tree* head, const FileUpdate& update) {
  Owned<git_tree_entry> entry;
  const int code = git_tree_entry_bypath(Receive(entry), head, update.path.c_str());
  const bool there = code == 0;
  if (!there || !update.after) return there == update.after.has_value();
  return git_oid_equal(git_tree_entry_id(entry.get()), &*update.after) != 0;
}

// The files that differ between the two commits of a record, and that HEAD has as the second has
// them. Nothing after a diagnostic.
std::optional<std::vector<FileUpdate>> updates_of(git_repository* repository,
                                                  const CheckoutRecord& record,
                                                  const std::string& head, diag::Sink& sink) {
  Owned<git_tree> before;
  if (!record.before.empty()) {
    before = tree_of(repository, record.before, sink);
    if (!before) return std::nullopt;
  }
  const Owned<git_tree> after = tree_of(repository, record.after, sink);
  const Owned<git_tree> now = after ? tree_of(repository, head, sink) : nullptr;
  if (!now) return std::nullopt;
  git_diff* raw = nullptr;
  const int code = git_diff_tree_to_tree(&raw, repository, before.get(), after.get(), nullptr);
  const std::unique_ptr<git_diff, FreeDiff> diff(raw);
  if (code != 0) {
    report(code, kDamaged, "cannot compare the commits of an interrupted run", sink);
    return std::nullopt;
  }
  std::vector<FileUpdate> updates;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(diff.get(), i);
    const bool there = delta->status != GIT_DELTA_DELETED;
    if (there && !is_file(delta->new_file.mode)) continue;
    FileUpdate update;
    update.path = there ? delta->new_file.path : delta->old_file.path;
    if (delta->status != GIT_DELTA_ADDED) update.before = delta->old_file.id;
    if (there) update.after = delta->new_file.id;
    update.mode = static_cast<git_filemode_t>(delta->new_file.mode);
    if (is_in_head(now.get(), update)) updates.push_back(std::move(update));
  }
  return updates;
}

}  // namespace

bool Repository::finish_interrupted(bool look_only, diag::Sink& sink) {
  const std::string directory = git_directory();
  const std::string common = common_directory_of(state_->handle.get());
  if (!look_only) NewObjects::remove_left(common + "/objects");
  const std::optional<CheckoutRecord> record = CheckoutRecord::read(directory);
  if (!record && !IndexLock::is_left(directory) && !RepositoryLock::is_left(common)) return true;
  // Whoever has the lock is alive, and looks for itself.
  diag::Sink in_use;
  const auto lock = RepositoryLock::acquire(common, std::chrono::milliseconds(0), in_use);
  if (!lock || is_bare()) return true;
  if (!look_only) return finish_checkout(sink);
  diag::Sink unread;
  if (record && contains(tip(record->branch, unread), record->after)) {
    sink.warning(kCheckoutFinished, diag::kNoOrigin,
                 "an interrupted run has committed " + short_id(record->after) + " to `" +
                     record->branch + "` and not updated the work tree")
        .suggest("the next `gpuctl apply` finishes it");
  }
  return true;
}

bool Repository::finish_checkout(diag::Sink& sink) {
  if (is_bare()) return true;
  git_repository* repository = state_->handle.get();
  const std::string directory = git_directory();
  IndexLock::remove_left(directory);
  const std::optional<CheckoutRecord> record = CheckoutRecord::read(directory);
  if (!record) return true;
  const std::size_t errors = sink.error_count();
  const std::string now = tip(record->branch, sink);
  if (sink.error_count() != errors) return false;
  if (now.empty() || !contains(now, record->after)) {
    CheckoutRecord::remove(directory);  // the branch never moved, or is elsewhere by now
    return true;
  }
  if (const std::string work = under_way(repository); !work.empty()) {
    sink.warning(
            kCheckoutFinished, diag::kNoOrigin,
            "an interrupted run has not updated the work tree, where " + work + " is under way")
        .note("it had committed " + short_id(record->after) + " to `" + record->branch + "`")
        .suggest("finish that first, then run gpuctl again");
    return true;
  }
  const auto updates = updates_of(repository, *record, resolve("HEAD"), sink);
  if (!updates) return false;
  auto work_tree = WorkTree::open(repository, record->mark, state_->lock_wait, sink);
  if (!work_tree) return false;
  work_tree->remove_temporaries(*updates);
  const base::HeldSignals held;
  const WorkTree::Outcome outcome = work_tree->update(*updates, sink);
  if (outcome == WorkTree::Outcome::failed) return false;
  CheckoutRecord::remove(directory);
  if (work_tree->updated() != 0) {
    sink.note(kCheckoutFinished, diag::kNoOrigin,
              "an interrupted run had not updated the work tree: " +
                  std::to_string(work_tree->updated()) +
                  (work_tree->updated() == 1 ? " file follows" : " files follow") + " now")
        .note("it had committed " + short_id(record->after) + " to `" + record->branch + "`");
  }
  return true;
}

}  // namespace gpuctl::git
