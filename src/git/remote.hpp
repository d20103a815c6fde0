// A repository elsewhere: what it has, and one commit more on one of its branches.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "git/address.hpp"
#include "git/cache.hpp"
#include "git/repository.hpp"
#include "git/trouble.hpp"

namespace gpuctl::git {

/// Where a commit for a branch starts.
struct Head {
  std::string branch = {};
  std::string tip = {};  // hex; empty: the branch does not exist
  std::string start =
      {};                 // hex; the tip, or where a new branch begins; empty: nothing there at all
  std::string base = {};  // hex; of the branch that it is to be merged into; empty: it is that one
};

enum class PushStatus {
  pushed,
  lost,     // the branch is elsewhere: plan again
  refused,  // the server does not have the commit
  unknown,  // the server may have it
};

/// Talks to a server through the `git` program, so that the user's ssh configuration, known hosts,
/// credential helpers and proxies hold. Nothing can ask on the terminal; nothing outlives the
/// deadline, which starts at open() and holds for all exchanges together, and an exchange in which
/// nothing moves ends before. Keeps the cache's lock.
class Remote {
 public:
  static std::optional<Remote> open(const Address& address, const TimeLimits& limits,
                                    const Cache::Say& say, diag::Sink& sink);

  /// Asks the server for `branch` ("": the one its HEAD names; `main` in an empty repository) and
  /// the one that HEAD names, and fetches what the cache lacks. Nothing after a diagnostic.
  std::optional<Head> fetch(const std::string& branch, diag::Sink& sink);

  /// Offers `commit`, which the cache has, as the new tip of the branch, whatever the branch had.
  /// The server takes it only while the branch is at `head.tip`; `lost` when it is elsewhere.
  /// `pushed` means that the server has said so and, asked again, has the commit in the branch. A
  /// diagnostic with the last two.
  PushStatus push(const Head& head, const std::string& commit, diag::Sink& sink);

  /// The cache. A branch of it is where fetch() or a commit left it.
  Repository& repository() { return cache_.repository(); }
  /// After damage found in the cache: makes a new one. False when that would be of no help, as it
  /// is new already.
  bool renew(diag::Sink& sink);

  std::chrono::steady_clock::time_point deadline() const { return deadline_; }
  const Address& address() const { return address_; }

 private:
  struct Listed {
    std::string head_branch;  // what HEAD names; empty for a detached or absent HEAD
    std::string head;         // hex ids; empty when absent
    std::string tip;
  };

  Remote(Address address, const TimeLimits& limits, Cache cache, std::string program)
      : address_(std::move(address)),
        limits_(limits),
        deadline_(std::chrono::steady_clock::now() + limits.total),
        cache_(std::move(cache)),
        program_(std::move(program)) {}

  base::Ended git(const std::vector<std::string>& arguments) const;
  std::optional<Listed> list(const std::string& branch, diag::Sink& sink) const;
  std::optional<Branches> list_branches(diag::Sink& sink) const;
  // Names of refs, each with what the server says of it: a hex id, or `ref: ` and another name.
  using Refs = std::vector<std::pair<std::string, std::string>>;
  std::optional<Refs> list_refs(const std::vector<std::string>& arguments, diag::Sink& sink) const;
  // A name on the server, the one in the cache, and its hex id, which fetching brings up to date.
  struct Wanted {
    std::string from;
    std::string to;
    std::string* id;
  };
  bool fetch_refs(const std::vector<Wanted>& wanted, bool& cache_at_fault, diag::Sink& sink);
  std::optional<Head> fetch_once(const std::string& branch, bool& cache_at_fault, diag::Sink& sink);
  PushStatus offer(const Head& head, const std::string& commit, diag::Sink& sink);
  bool confirm(const std::string& branch, const std::string& commit, diag::Sink& sink);

  Address address_;
  TimeLimits limits_;
  std::chrono::steady_clock::time_point deadline_;
  Cache cache_;
  std::string program_;
  std::vector<base::Setting> environment_;
};

}  // namespace gpuctl::git
