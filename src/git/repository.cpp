#include "git/repository.hpp"

#include <filesystem>

#include "base/digest.hpp"
#include "base/path_check.hpp"
#include "diag/character.hpp"
#include "git/checkouts.hpp"
#include "git/codes.hpp"
#include "git/names.hpp"
#include "git/open.hpp"
#include "git/state.hpp"

namespace gpuctl::git {
namespace {

// Deeper than any path that can be written; a tree that goes further is hostile.
constexpr std::size_t kMostTreeDepth = 1024;

struct Level {
  Owned<git_tree> tree;
  std::string path;
  std::size_t next = 0;
};

// True when a path is not in a tree. A directory that is named but missing as an object gives the
// same result code: that is damage, and must never pass for "no such file".
bool is_absent(int code) {
  return code == GIT_ENOTFOUND &&
         (git_error_last() == nullptr || git_error_last()->klass != GIT_ERROR_ODB);
}

// What a tree entry is, when it is no file that could be read; "" when it is one.
std::string other_than_file(const git_tree_entry* entry) {
  switch (git_tree_entry_filemode(entry)) {
    case GIT_FILEMODE_TREE:
      return "a directory";
    case GIT_FILEMODE_LINK:
      return "a symbolic link";
    case GIT_FILEMODE_COMMIT:
      return "a submodule";
    default:
      return "";
  }
}

// The content of a file in a tree; nothing when absent, and after a diagnostic.
std::optional<std::string> read_blob(git_repository* repository, git_tree* tree,
                                     const std::string& path, diag::Sink& sink) {
  if (path.empty() || path.find('\0') != std::string::npos) return std::nullopt;
  Owned<git_tree_entry> entry;
  int code = git_tree_entry_bypath(Receive(entry), tree, path.c_str());
  if (is_absent(code)) return std::nullopt;
  if (code == 0) {
    if (const std::string other = other_than_file(entry.get()); !other.empty()) {
      sink.error(kUnsafePath, diag::kNoOrigin,
                 "`" + path + "` is " + other + " in the branch, and a file is needed there")
          .suggest("move or delete it in the branch first");
      return std::nullopt;
    }
  }
  Owned<git_blob> blob;
  if (code == 0) code = git_blob_lookup(Receive(blob), repository, git_tree_entry_id(entry.get()));
  if (code != 0) {
    report_unread(repository, code, "cannot read `" + path + "` from the branch", sink);
    return std::nullopt;
  }
  return std::string(static_cast<const char*>(git_blob_rawcontent(blob.get())),
                     static_cast<std::size_t>(git_blob_rawsize(blob.get())));
}

}  // namespace

Owned<git_commit> commit_of(git_repository* repository, const std::string& id, diag::Sink& sink) {
  git_oid oid{};
  int code = id.size() == GIT_OID_HEXSZ ? git_oid_fromstr(&oid, id.c_str()) : GIT_EINVALIDSPEC;
  Owned<git_commit> commit;
  if (code == 0) code = git_commit_lookup(Receive(commit), repository, &oid);
  if (code != 0) {
    report_unread(repository, code, "cannot read the commit `" + id + "`", sink);
  }
  return commit;
}

Owned<git_tree> tree_of(git_repository* repository, const std::string& commit, diag::Sink& sink) {
  const Owned<git_commit> found = commit_of(repository, commit, sink);
  if (!found) return nullptr;
  Owned<git_tree> tree;
  const int code = git_commit_tree(Receive(tree), found.get());
  if (code != 0) {
    report_unread(repository, code, "cannot read the tree of the commit `" + commit + "`", sink);
  }
  return tree;
}

bool check_branch_name(const std::string& branch, diag::Sink& sink) {
  ensure_library();
  int valid = 0;
  // A branch is a file too, and its name is shown to people.
  const std::string reason = base::unsafe_path_reason(branch);
  if (reason.empty() && git_branch_name_is_valid(&valid, branch.c_str()) == 0 && valid != 0) {
    return true;
  }
  sink.error(kUnsafePath, diag::kNoOrigin,
             "`" + branch + "` is not a branch name" + (reason.empty() ? "" : ": it " + reason))
      .suggest("see `git check-ref-format --help` for what a name may hold");
  return false;
}

void report_moved(const std::string& branch, int attempts, diag::Sink& sink) {
  sink.error(kBranchMoved, diag::kNoOrigin, "branch `" + branch + "` moved while we were working")
      .note("gave up after " + std::to_string(attempts) +
            (attempts == 1 ? " attempt" : " attempts"))
      .suggest("run again: the plan is made anew on the branch as it is then");
}

Repository::Repository(std::unique_ptr<State> state) : state_(std::move(state)) {}
Repository::~Repository() = default;
Repository::Repository(Repository&&) noexcept = default;
Repository& Repository::operator=(Repository&&) noexcept = default;

std::optional<Repository> Repository::open(const std::string& path, diag::Sink& sink) {
  Owned<git_repository> handle = open_repository(path, sink);
  if (!handle) return std::nullopt;
  auto state = std::make_unique<State>();
  state->handle = std::move(handle);
  state->path = path;
  return Repository(std::move(state));
}

std::optional<Repository> Repository::open_or_create(const std::string& path,
                                                     const std::string& branch, bool& created,
                                                     diag::Sink& sink) {
  created = false;
  std::optional<Creation> creation;
  if (is_absent_or_empty(path)) {
    if (!check_branch_name(branch, sink)) return std::nullopt;
    creation = create_repository(path, branch, sink);
    if (!creation) return std::nullopt;
  }
  std::optional<Repository> repository = open(path, sink);
  if (repository && creation && creation->repository) {
    created = true;
    repository->state_->creation = std::move(creation);
  }
  return repository;
}

bool Repository::can_be_created(const std::string& path) {
  return is_absent_or_empty(path);
}

bool Repository::check_creation(const std::string& path, diag::Sink& sink) {
  namespace fs = std::filesystem;
  if (path.empty()) return true;  // which opening it refuses
  ensure_library();
  std::error_code failed;
  fs::path whole = fs::absolute(path, failed).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  const fs::path parent = whole.parent_path();
  const std::string shown = diag::shown(path);
  if (!fs::is_directory(parent, failed)) {
    sink.error(kNotCreated, diag::kNoOrigin, "there is no directory `" + parent.string() + "`")
        .note("`" + shown + "` would be a new repository in it")
        .suggest("check the path; `--init` creates the repository and the directories above it");
    return false;
  }
  git_buf found = GIT_BUF_INIT;
  std::string outer;
  if (git_repository_discover(&found, parent.c_str(), 0, nullptr) == 0) {
    Owned<git_repository> repository;
    const int code = git_repository_open(Receive(repository), found.ptr);
    const char* work_tree = code == 0 ? git_repository_workdir(repository.get()) : nullptr;
    if (work_tree != nullptr) outer = work_tree;
  }
  git_buf_dispose(&found);
  if (outer.empty()) return true;
  sink.error(kNotCreated, diag::kNoOrigin,
             "`" + shown + "` would be a new repository in the work tree of another one")
      .note("the other one is `" + outer + "`, whose commits would leave it out")
      .suggest(
          "give `--repo` the repository that is meant; `--init` creates one here all the same");
  return false;
}

void Repository::take_back_creation() {
  if (!state_->creation) return;
  const std::string path = state_->path;
  const Creation creation = std::move(*state_->creation);
  state_.reset();
  remove_repository(path, creation);
}

bool Repository::is_bare() const {
  return git_repository_is_bare(state_->handle.get()) != 0;
}

std::string Repository::git_directory() const {
  return git_directory_of(state_->handle.get());
}

void Repository::set_lock_wait(std::chrono::milliseconds wait) {
  state_->lock_wait = wait;
}

std::string Repository::head_branch() const {
  Owned<git_reference> head;
  if (git_reference_lookup(Receive(head), state_->handle.get(), "HEAD") != 0) return "";
  const char* target = git_reference_symbolic_target(head.get());
  const std::string_view name = target == nullptr ? "" : target;
  return name.starts_with(kBranches) ? std::string(name.substr(kBranches.size())) : "";
}

void Repository::report_detached(const std::string& shown, diag::Sink& sink) const {
  diag::Diagnostic& error = sink.error(kUnsupportedRepository, diag::kNoOrigin,
                                       "HEAD of `" + shown + "` is at no branch");
  const std::string work = under_way(state_->handle.get());
  if (!work.empty()) error.note(work + " is under way in its work tree");
  error.suggest("say which branch to commit to: `--branch NAME`");
}

std::string Repository::tip(const std::string& branch, diag::Sink& sink) const {
  if (!check_branch_name(branch, sink)) return "";
  const std::string name = std::string(kBranches) + branch;
  Owned<git_reference> reference;
  const int code = git_reference_lookup(Receive(reference), state_->handle.get(), name.c_str());
  if (code == GIT_ENOTFOUND) return "";
  if (code != 0) {
    report(code, kDamaged, "cannot read the branch `" + branch + "`", sink)
        .suggest("check the repository with `git fsck`");
    return "";
  }
  const git_oid* target = git_reference_target(reference.get());
  if (target == nullptr) {
    sink.error(kUnsupportedRepository, diag::kNoOrigin,
               "branch `" + branch + "` is only another name")
        .note(std::string("it points to `") + git_reference_symbolic_target(reference.get()) + "`")
        .suggest("use the branch it points to");
    return "";
  }
  return hex(*target);
}

std::string Repository::resolve(const std::string& name) const {
  git_oid id{};
  return git_reference_name_to_id(&id, state_->handle.get(), name.c_str()) == 0 ? hex(id) : "";
}

Branches Repository::branches() const {
  Branches found;
  git_strarray names{};
  if (git_reference_list(&names, state_->handle.get()) != 0) return found;
  for (std::size_t i = 0; i < names.count; ++i) {
    const std::string name = names.strings[i];
    if (!name.starts_with(kBranches)) continue;
    const std::string id = resolve(name);
    if (!id.empty()) found.emplace(name.substr(std::string_view(kBranches).size()), id);
  }
  git_strarray_dispose(&names);
  return found;
}

std::optional<Branches::value_type> start_without_head(const Branches& branches,
                                                       const std::string& shown, diag::Sink& sink) {
  if (branches.empty()) return Branches::value_type{};
  if (branches.size() == 1) return *branches.begin();
  for (const char* usual : {"main", "master"}) {
    const auto found = branches.find(usual);
    if (found != branches.end()) return *found;
  }
  sink.error(kUnsupportedRepository, diag::kNoOrigin,
             "HEAD of `" + shown + "` names a branch that does not exist")
      .suggest(
          "a new branch starts where HEAD is: set it to one of the branches that are there "
          "(`git symbolic-ref HEAD refs/heads/NAME`, or the default branch on the server)");
  return std::nullopt;
}

std::optional<Proposal> Repository::proposal(const std::string& directory, const std::string& base,
                                             const std::string& tip, diag::Sink& sink) const {
  return read_proposal(state_->handle.get(), directory, base, tip, sink);
}

bool Repository::contains(const std::string& tip, const std::string& commit) const {
  git_oid above{};
  git_oid below{};
  return git_oid_fromstr(&above, tip.c_str()) == 0 &&
         git_oid_fromstr(&below, commit.c_str()) == 0 &&
         (git_oid_equal(&above, &below) != 0 ||
          git_graph_descendant_of(state_->handle.get(), &above, &below) == 1);
}

bool Repository::make_way(const std::string& branch, bool itself, diag::Sink& sink) {
  git_strarray names{};
  int code = git_reference_list(&names, state_->handle.get());
  const std::string own = std::string(kBranches) + branch;
  for (std::size_t i = 0; code == 0 && i < names.count; ++i) {
    const std::string name = names.strings[i];
    const bool in_the_way = name.starts_with(own + "/") || own.starts_with(name + "/");
    if (in_the_way || (itself && name == own)) {
      code = git_reference_remove(state_->handle.get(), name.c_str());
    }
  }
  git_strarray_dispose(&names);
  if (code != 0) report(code, kDamaged, "cannot make way for the branch `" + branch + "`", sink);
  return code == 0;
}

bool Repository::put_back(const std::string& branch, const std::string& commit) {
  const std::string name = std::string(kBranches) + branch;
  git_repository* repository = state_->handle.get();
  if (commit.empty()) return git_reference_remove(repository, name.c_str()) == 0;
  git_oid id{};
  Owned<git_reference> reference;
  return git_oid_fromstr(&id, commit.c_str()) == 0 &&
         git_reference_create(Receive(reference), repository, name.c_str(), &id, 1, nullptr) == 0;
}

std::optional<std::string> Repository::read(const std::string& commit, const std::string& path,
                                            diag::Sink& sink) const {
  const Owned<git_tree> tree = tree_of(state_->handle.get(), commit, sink);
  if (!tree) return std::nullopt;
  return read_blob(state_->handle.get(), tree.get(), path, sink);
}

std::vector<std::optional<std::string>> Repository::read_many(const std::string& commit,
                                                              std::span<const std::string> paths,
                                                              diag::Sink& sink) const {
  std::vector<std::optional<std::string>> contents(paths.size());
  const Owned<git_tree> tree = tree_of(state_->handle.get(), commit, sink);
  if (!tree) return contents;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    contents[i] = read_blob(state_->handle.get(), tree.get(), paths[i], sink);
  }
  return contents;
}

std::string Repository::tree_id(const std::string& commit, const std::string& directory,
                                diag::Sink& sink) const {
  return tree_ids(commit, {&directory, 1}, sink).front();
}

std::vector<std::string> Repository::tree_ids(const std::string& commit,
                                              std::span<const std::string> directories,
                                              diag::Sink& sink) const {
  std::vector<std::string> ids(directories.size());
  const Owned<git_tree> tree = tree_of(state_->handle.get(), commit, sink);
  if (!tree) return ids;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    const std::string& directory = directories[i];
    if (directory.empty()) {
      ids[i] = hex(*git_tree_id(tree.get()));
      continue;
    }
    Owned<git_tree_entry> entry;
    const int code = git_tree_entry_bypath(Receive(entry), tree.get(), directory.c_str());
    if (is_absent(code)) continue;
    if (code != 0) {
      report_unread(state_->handle.get(), code,
                    "cannot read the directory `" + directory + "` of the branch", sink);
    } else if (git_tree_entry_type(entry.get()) == GIT_OBJECT_TREE) {
      ids[i] = hex(*git_tree_entry_id(entry.get()));
    }
  }
  return ids;
}

std::map<std::string, std::string> Repository::list(const std::string& commit,
                                                    const std::string& directory,
                                                    diag::Sink& sink) const {
  std::map<std::string, std::string> files;
  git_repository* repository = state_->handle.get();
  const std::string root = tree_id(commit, directory, sink);
  if (root.empty()) return files;
  std::vector<Level> levels;
  const auto enter = [&](const git_oid& id, const std::string& path) {
    Owned<git_tree> tree;
    const int code = levels.size() < kMostTreeDepth
                         ? git_tree_lookup(Receive(tree), repository, &id)
                         : GIT_EINVALID;
    if (code != 0) {
      report_unread(repository, code, "cannot read the directory `" + path + "` of the branch",
                    sink);
      return false;
    }
    levels.push_back({std::move(tree), path, 0});
    return true;
  };
  git_oid id{};
  git_oid_fromstr(&id, root.c_str());
  if (!enter(id, directory)) return {};
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == git_tree_entrycount(level.tree.get())) {
      levels.pop_back();
      continue;
    }
    const git_tree_entry* entry = git_tree_entry_byindex(level.tree.get(), level.next++);
    const std::string name = git_tree_entry_name(entry);
    const std::string path = level.path.empty() ? name : level.path + "/" + name;
    const git_object_t type = git_tree_entry_type(entry);
    if (type == GIT_OBJECT_BLOB) {
      files.emplace(path, hex(*git_tree_entry_id(entry)));
    } else if (type == GIT_OBJECT_TREE && !enter(*git_tree_entry_id(entry), path)) {
      return {};
    }
  }
  return files;
}

std::optional<NewObjects> Repository::new_objects(diag::Sink& sink) const {
  return NewObjects::start(common_directory_of(state_->handle.get()) + "/objects", sink);
}

std::string Repository::blob_id(std::string_view content) {
  return base::hex(
      base::sha1("blob " + std::to_string(content.size()) + std::string(1, '\0'), content));
}

}  // namespace gpuctl::git
