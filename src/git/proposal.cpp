#include "git/proposal.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "git/codes.hpp"
#include "git/state.hpp"

namespace gpuctl::git {
namespace {

// A branch that is to be merged has a few; one with more lives a life of its own.
constexpr std::size_t kMostCommits = 200;

std::string short_id(const git_oid& id) {
  return hex(id).substr(0, 12);
}

// Whether its trailers say that `gpuctl apply` made it: what other commands do, such as retiring a
// name, apply does not do again.
bool made_by_apply(const git_commit* commit) {
  git_message_trailer_array trailers{};
  if (git_message_trailers(&trailers, git_commit_message(commit)) != 0) return false;
  bool ours = false;
  bool other = false;
  for (std::size_t i = 0; i < trailers.count; ++i) {
    const std::string_view key = trailers.trailers[i].key;
    ours = ours || key == "Gpuctl-Version";
    other = other || key == "Gpuctl-Command";
  }
  git_message_trailer_array_free(&trailers);
  return ours && !other;
}

// `clusters/prod/ml-a` of `clusters/prod/ml-a/layers/x.yaml`; empty when it is elsewhere.
std::string cluster_of(const std::string& path, const std::string& directory) {
  if (!path.starts_with(directory + "/")) return "";
  const std::size_t stage = path.find('/', directory.size() + 1);
  if (stage == std::string::npos) return "";
  const std::size_t name = path.find('/', stage + 1);
  return name == std::string::npos ? "" : path.substr(0, name);
}

// Adds the clusters that a commit changes. False, with an obstacle, when it changes something else.
bool add_clusters(git_repository* repository, const git_commit* commit,
                  const std::string& directory, Proposal& out) {
  Owned<git_commit> parent;
  Owned<git_tree> before;
  Owned<git_tree> after;
  Owned<git_diff> diff;
  int code = git_commit_parent(Receive(parent), commit, 0);
  if (code == 0) code = git_commit_tree(Receive(before), parent.get());
  if (code == 0) code = git_commit_tree(Receive(after), commit);
  if (code == 0) {
    code = git_diff_tree_to_tree(Receive(diff), repository, before.get(), after.get(), nullptr);
  }
  if (code != 0) {
    out.obstacle = short_id(*git_commit_id(commit)) + " cannot be read";
    return false;
  }
  for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
    const std::string path = git_diff_get_delta(diff.get(), i)->new_file.path;
    if (path == directory + "/.gitattributes") continue;
    std::string cluster = cluster_of(path, directory);
    if (cluster.empty()) {
      out.obstacle = short_id(*git_commit_id(commit)) + " changes `" + path + "`";
      return false;
    }
    out.clusters.insert(std::move(cluster));
  }
  return true;
}

}  // namespace

std::optional<Proposal> read_proposal(git_repository* repository, const std::string& directory,
                                      const std::string& base, const std::string& tip,
                                      diag::Sink& sink) {
  Owned<git_revwalk> walk;
  git_oid from{};
  git_oid hidden{};
  int code = git_revwalk_new(Receive(walk), repository);
  if (code == 0) code = git_oid_fromstr(&from, tip.c_str());
  if (code == 0) code = git_oid_fromstr(&hidden, base.c_str());
  if (code == 0) code = git_revwalk_push(walk.get(), &from);
  if (code == 0) code = git_revwalk_hide(walk.get(), &hidden);
  Proposal out;
  git_oid id{};
  std::size_t count = 0;
  while (code == 0 && (code = git_revwalk_next(&id, walk.get())) == 0) {
    const Owned<git_commit> commit = commit_of(repository, hex(id), sink);
    if (!commit) return std::nullopt;
    if (++count > kMostCommits) {
      out.obstacle = "it has more than " + std::to_string(kMostCommits) + " commits";
    } else if (git_commit_parentcount(commit.get()) != 1) {
      out.obstacle = short_id(id) + " is a merge";
    } else if (!made_by_apply(commit.get())) {
      out.obstacle = short_id(id) + " was not made by `gpuctl apply`";
    } else {
      add_clusters(repository, commit.get(), directory, out);
    }
    if (!out.obstacle.empty()) return out;
  }
  if (code == GIT_ITEROVER) return out;
  report(code, kDamaged, "cannot read the commits of a branch", sink)
      .suggest("check the repository with `git fsck`");
  return std::nullopt;
}

}  // namespace gpuctl::git
