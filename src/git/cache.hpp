// The local copies of repositories elsewhere.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "git/address.hpp"
#include "git/lock.hpp"
#include "git/repository.hpp"

namespace gpuctl::git {

/// A bare repository of our own for one address, below `$XDG_CACHE_HOME/gpuctl/repositories`
/// (default `~/.cache`), mode 0700, held by an flock for the life of the object. All it holds can
/// be fetched again: one that is not as we make them is made anew, and so may the user delete it.
class Cache {
 public:
  using Say = std::function<void(const std::string& line)>;

  /// Waits for another gpuctl until `deadline`, and says so; then GPU0525. GPU0526 when the place
  /// cannot be used.
  static std::optional<Cache> open(const Address& address,
                                   std::chrono::steady_clock::time_point deadline, const Say& say,
                                   diag::Sink& sink);

  const std::string& directory() const { return directory_; }
  Repository& repository() { return *repository_; }
  /// Made in this run: what is wrong with it then is not the cache.
  bool is_new() const { return new_; }

  /// Throws the repository away and makes an empty one.
  bool renew(diag::Sink& sink);
  /// Opens it again, to see what other programs have put in.
  bool reopen(diag::Sink& sink);

 private:
  Cache(FileLock lock, std::string directory)
      : lock_(std::move(lock)), directory_(std::move(directory)) {}

  bool is_sound() const;

  FileLock lock_;
  std::string directory_;
  std::optional<Repository> repository_;
  bool new_ = false;
};

}  // namespace gpuctl::git
