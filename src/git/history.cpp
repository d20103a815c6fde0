// What the history of a branch tells.
#include "git/libgit.hpp"
#include "git/repository.hpp"
#include "git/state.hpp"

namespace gpuctl::git {

namespace {

// The tree at `directory` of a commit; nothing when there is none.
std::optional<git_oid> tree_at(const git_commit* commit, const std::string& directory) {
  Owned<git_tree> root;
  Owned<git_tree_entry> entry;
  if (git_commit_tree(Receive(root), commit) != 0) return std::nullopt;
  if (git_tree_entry_bypath(Receive(entry), root.get(), directory.c_str()) != 0) {
    return std::nullopt;
  }
  return *git_tree_entry_id(entry.get());
}

}  // namespace

std::optional<std::int64_t> Repository::changed_at(const std::string& commit,
                                                   const std::string& directory) const {
  git_repository* repository = state_->handle.get();
  git_oid id{};
  Owned<git_commit> at;
  if (git_oid_fromstr(&id, commit.c_str()) != 0 ||
      git_commit_lookup(Receive(at), repository, &id) != 0) {
    return std::nullopt;
  }
  const std::optional<git_oid> tree = tree_at(at.get(), directory);
  if (!tree) return std::nullopt;
  // A merge took the directory from the parent that has it as it is.
  for (bool older = true; older;) {
    older = false;
    const unsigned int parents = git_commit_parentcount(at.get());
    for (unsigned int i = 0; i < parents && !older; ++i) {
      Owned<git_commit> parent;
      if (git_commit_parent(Receive(parent), at.get(), i) != 0) return std::nullopt;
      const std::optional<git_oid> before = tree_at(parent.get(), directory);
      if (!before || git_oid_equal(&*before, &*tree) == 0) continue;
      at = std::move(parent);
      older = true;
    }
  }
  return git_commit_time(at.get());
}

}  // namespace gpuctl::git
