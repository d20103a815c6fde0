// Repository::commit: objects, then the branch by compare-and-swap, then the work tree.
#include <thread>

#include "git/bulk_store.hpp"
#include "git/checkout_record.hpp"
#include "git/checkouts.hpp"
#include "git/codes.hpp"
#include "git/identity.hpp"
#include "git/lock.hpp"
#include "git/open.hpp"
#include "git/repository.hpp"
#include "git/signing.hpp"
#include "git/state.hpp"
#include "git/tree_writer.hpp"
#include "git/work_tree.hpp"

namespace gpuctl::git {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRetryPause = std::chrono::milliseconds(20);

// One try under the branch's lock: gives libgit2's code, GIT_EMODIFIED when the branch is not at
// `tip` (nullptr: absent) any more.
int swap_once(git_repository* repository, const std::string& name, const git_oid* tip,
              const git_oid& commit, const std::string& reason, RepositoryLock& lock) {
  Owned<git_transaction> transaction;
  int code = git_transaction_new(Receive(transaction), repository);
  if (code != 0) return code;
  lock.announce_lock_file(name + ".lock", hex(commit));
  code = git_transaction_lock_ref(transaction.get(), name.c_str());
  if (code != 0) {
    lock.forget_lock_file();
    return code;
  }
  lock.note_lock_file(name + ".lock", hex(commit));
  git_oid now{};
  code = git_reference_name_to_id(&now, repository, name.c_str());
  if (code != 0 && code != GIT_ENOTFOUND) return code;
  const bool there = code == 0;
  if (there != (tip != nullptr) || (there && git_oid_equal(&now, tip) == 0)) return GIT_EMODIFIED;
  code =
      git_transaction_set_target(transaction.get(), name.c_str(), &commit, nullptr, reason.c_str());
  return code == 0 ? git_transaction_commit(transaction.get()) : code;
}

// A branch `a` cannot be beside `a/b`. Refs that are packed show only in the list; where that
// cannot be read, nothing is to be added.
bool check_neighbours(git_repository* repository, const std::string& branch, diag::Sink& sink) {
  git_strarray names{};
  const int code = git_reference_list(&names, repository);
  const std::string own = "refs/heads/" + branch;
  std::string in_the_way;
  for (std::size_t i = 0; code == 0 && i < names.count; ++i) {
    const std::string name = names.strings[i];
    if (name.starts_with(own + "/") || own.starts_with(name + "/")) in_the_way = name;
  }
  git_strarray_dispose(&names);
  if (code != 0) {
    report(code, kDamaged, "cannot read the branches", sink);
  } else if (!in_the_way.empty()) {
    sink.error(kUnsafePath, diag::kNoOrigin,
               "branch `" + branch + "` cannot be beside `" + in_the_way + "`")
        .suggest("choose another name");
  }
  return code == 0 && in_the_way.empty();
}

// Moves the branch from `tip` (nullptr: it must not exist) to `commit`. `moved` when it is
// elsewhere by now, however that came about.
CommitStatus swap_branch(git_repository* repository, const CommitRequest& request,
                         const git_oid* tip, const git_oid& commit, std::chrono::milliseconds wait,
                         RepositoryLock& lock, diag::Sink& sink) {
  if (!check_neighbours(repository, request.branch, sink)) return CommitStatus::failed;
  const std::string name = "refs/heads/" + request.branch;
  const std::string subject = request.message.substr(0, request.message.find('\n'));
  const bool initial = tip == nullptr && request.start.empty();
  const std::string reason = (initial ? "commit (initial): " : "commit: ") + subject;
  const auto deadline = Clock::now() + wait;
  while (true) {
    const int code = swap_once(repository, name, tip, commit, reason, lock);
    if (code == 0) return CommitStatus::committed;
    if (code == GIT_EMODIFIED) return CommitStatus::moved;
    if (code != GIT_ELOCKED || Clock::now() >= deadline) {
      if (code == GIT_ELOCKED) {
        const std::string file = common_directory_of(repository) + "/" + name + ".lock";
        report_lock_file(file, sink);
      } else {
        report(code, kCannotWrite, "cannot move the branch `" + request.branch + "`", sink);
      }
      return CommitStatus::failed;
    }
    std::this_thread::sleep_for(kRetryPause);
  }
}

// As git tidies messages.
std::string tidied(const std::string& message) {
  git_buf buffer = GIT_BUF_INIT;
  std::string out = message;
  if (git_message_prettify(&buffer, message.c_str(), 0, 0) == 0) out = {buffer.ptr, buffer.size};
  git_buf_dispose(&buffer);
  return out;
}

std::optional<git_oid> write_commit(git_repository* repository, const std::string& message,
                                    const Identity& identity, const git_commit* parent,
                                    const git_oid& tree_id, diag::Sink& sink) {
  Owned<git_tree> tree;
  int code = git_tree_lookup(Receive(tree), repository, &tree_id);
  git_oid id{};
  if (code == 0) {
    const git_commit* parents[] = {parent};  // NOLINT: the shape libgit2 wants
    code =
        git_commit_create(&id, repository, nullptr, identity.author.get(), identity.committer.get(),
                          nullptr, message.c_str(), tree.get(), parent == nullptr ? 0 : 1, parents);
  }
  if (code == 0) return id;
  report(code, kCannotWrite, "cannot write the commit", sink);
  return std::nullopt;
}

// The files of the work tree that a commit changes.
std::vector<FileUpdate> updates_of(std::span<const AppliedChange> applied) {
  std::vector<FileUpdate> updates;
  for (const AppliedChange& one : applied) {
    const std::string* content = one.change->content ? &*one.change->content : nullptr;
    updates.push_back({one.change->path, one.before, one.after, one.mode, content});
  }
  return updates;
}

// A commit that no branch leads to yet.
struct NewCommit {
  std::optional<git_oid> id;  // nothing: its tree would be that of its parent
  std::optional<git_oid> parent;
  std::vector<AppliedChange> applied;
};

// Same tree, same parents: what differs is who says so, and when.
bool are_alike(git_repository* repository, const git_commit* one, const git_oid& id) {
  Owned<git_commit> other;
  if (git_commit_lookup(Receive(other), repository, &id) != 0) return false;
  const unsigned int parents = git_commit_parentcount(one);
  if (parents != git_commit_parentcount(other.get())) return false;
  for (unsigned int i = 0; i < parents; ++i) {
    if (!git_oid_equal(git_commit_parent_id(one, i), git_commit_parent_id(other.get(), i))) {
      return false;
    }
  }
  return git_oid_equal(git_commit_tree_id(one), git_commit_tree_id(other.get())) != 0;
}

// Writes the objects of a commit on top of `base` (hex id, may be empty).
std::optional<NewCommit> write_objects(git_repository* repository, const CommitRequest& request,
                                       const ChangeNode& changes, const std::string& base,
                                       diag::Sink& sink) {
  std::optional<BulkStore> bulk;
  if (request.changes.size() >= kPackFrom) {
    bulk = BulkStore::open(repository, sink);
    if (!bulk) return std::nullopt;
  }
  git_repository* store = bulk ? bulk->repository() : repository;

  // Handles from `store`: libgit2 refuses to mix objects of two repository handles.
  NewCommit out;
  Owned<git_commit> parent;
  Owned<git_tree> old_tree;
  if (!base.empty()) {
    parent = commit_of(store, base, sink);
    if (parent) old_tree = tree_of(store, base, sink);
    if (!old_tree) return std::nullopt;
    out.parent = *git_commit_id(parent.get());
  }
  std::optional<WrittenTree> written = write_tree(store, old_tree.get(), changes, sink);
  if (!written) return std::nullopt;
  const bool same = old_tree ? git_oid_equal(&written->id, git_tree_id(old_tree.get())) != 0
                             : written->applied.empty();
  if (same) return out;

  const std::optional<Identity> identity = identity_of(repository, sink);
  if (!identity) return std::nullopt;
  const std::string message = tidied(request.message);
  const bool is_signed = signing_is_wanted(repository);
  if (!is_signed) {
    out.id = write_commit(store, message, *identity, parent.get(), written->id, sink);
    if (!out.id) return std::nullopt;
    written->objects.push_back(*out.id);
  }
  if (bulk && !bulk->save(repository, written->objects, sink)) return std::nullopt;
  if (is_signed) {
    const git_oid* parent_id = out.parent ? &*out.parent : nullptr;
    out.id = write_signed_commit(repository, *identity, parent_id, written->id, message, sink);
    if (!out.id) return std::nullopt;
  }
  // The reflog is written under this name.
  git_repository_set_ident(repository, identity->committer->name, identity->committer->email);
  out.applied = std::move(written->applied);
  return out;
}

}  // namespace

CommitResult Repository::commit(const CommitRequest& request, diag::Sink& sink) {
  git_repository* repository = state_->handle.get();
  if (!check_branch_name(request.branch, sink)) return {};
  const std::optional<ChangeNode> changes = arrange(request.changes, sink);
  if (!changes) return {};

  if (!check_links(repository, request.branch, sink)) return {};
  const std::string common = common_directory_of(repository);
  auto lock = RepositoryLock::acquire(common, state_->lock_wait, sink);
  if (!lock) return {};
  if (!finish_checkout(sink) || !check_checkouts(repository, request.branch, sink)) return {};
  const bool is_head = head_branch() == request.branch;
  std::vector<std::string> foreign = {common + "/refs/heads/" + request.branch + ".lock"};
  if (is_head) foreign.push_back(git_directory() + "/HEAD.lock");
  if (is_head && !is_bare()) foreign.push_back(git_directory() + "/index.lock");
  if (!wait_for_lock_files(foreign, state_->lock_wait, sink)) return {};

  const std::size_t errors = sink.error_count();
  const std::string now = tip(request.branch, sink);
  if (sink.error_count() != errors) return {};
  if (now != request.expected_tip) return {CommitStatus::moved, now};

  const std::string base = request.start.empty() ? now : request.start;
  const std::optional<NewCommit> made = write_objects(repository, request, *changes, base, sink);
  if (!made) return {};
  if (!made->id) return {CommitStatus::unchanged, base};
  const git_oid& id = *made->id;
  const Owned<git_commit> old = now.empty() ? nullptr : commit_of(repository, now, sink);
  if (!now.empty() && !old) return {};
  if (old && are_alike(repository, old.get(), id)) return {CommitStatus::unchanged, now};
  const CheckoutRecord record{request.branch, now, hex(id), base::OutputTree::new_mark()};
  std::optional<WorkTree> work_tree;
  if (is_head && !is_bare()) {
    work_tree = WorkTree::open(repository, record.mark, state_->lock_wait, sink);
    if (!work_tree) return {};
  }
  // From here to the end nothing but SIGKILL comes between, and for that there is the record.
  auto signals = std::make_shared<base::HeldSignals>();
  if (work_tree && !record.write(git_directory(), sink)) return {};
  const CommitStatus status =
      swap_branch(repository, request, old ? git_commit_id(old.get()) : nullptr, id,
                  state_->lock_wait, *lock, sink);
  if (status != CommitStatus::committed) {
    if (work_tree) CheckoutRecord::remove(git_directory());
    return {status, ""};
  }
  if (work_tree &&
      work_tree->update(updates_of(made->applied), sink) != WorkTree::Outcome::failed) {
    CheckoutRecord::remove(git_directory());
  }
  return {CommitStatus::committed, hex(id), std::move(signals)};
}

}  // namespace gpuctl::git
