// The one way this library talks to libgit2: owned handles, and errors as diagnostics.
#pragma once

#include <git2.h>

#include <memory>
#include <string>
#include <string_view>

#include "diag/diagnostic.hpp"

namespace gpuctl::git {

struct FreeHandle {
  void operator()(git_repository* handle) const { git_repository_free(handle); }
  void operator()(git_commit* handle) const { git_commit_free(handle); }
  void operator()(git_tree* handle) const { git_tree_free(handle); }
  void operator()(git_tree_entry* handle) const { git_tree_entry_free(handle); }
  void operator()(git_treebuilder* handle) const { git_treebuilder_free(handle); }
  void operator()(git_blob* handle) const { git_blob_free(handle); }
  void operator()(git_odb* handle) const { git_odb_free(handle); }
  void operator()(git_index* handle) const { git_index_free(handle); }
  void operator()(git_config* handle) const { git_config_free(handle); }
  void operator()(git_config_entry* handle) const { git_config_entry_free(handle); }
  void operator()(git_reference* handle) const { git_reference_free(handle); }
  void operator()(git_signature* handle) const { git_signature_free(handle); }
  void operator()(git_transaction* handle) const { git_transaction_free(handle); }
  void operator()(git_patch* handle) const { git_patch_free(handle); }
  void operator()(git_revwalk* handle) const { git_revwalk_free(handle); }
  void operator()(git_diff* handle) const { git_diff_free(handle); }
  void operator()(git_packbuilder* handle) const { git_packbuilder_free(handle); }
};
template <typename T>
using Owned = std::unique_ptr<T, FreeHandle>;

/// Receives a handle from a libgit2 `T** out` argument for the length of one full expression.
template <typename T>
class Receive {
 public:
  explicit Receive(Owned<T>& target) : target_(target) {}
  ~Receive() { target_.reset(raw_); }
  Receive(const Receive&) = delete;
  Receive& operator=(const Receive&) = delete;
  operator T**() { return &raw_; }  // NOLINT: implicit on purpose

 private:
  Owned<T>& target_;
  T* raw_ = nullptr;
};

/// Starts libgit2 once a process, with fsync, strict object creation and hash verification on, and
/// shuts it down at exit. Owner validation stays on, as libgit2 has it. Thread-safe.
void ensure_library();

/// Text of the last libgit2 error on this thread ("" when there is none).
std::string last_error();

/// True when `result` and the last error say that the repository belongs to another user. libgit2
/// 1.5 gives GIT_EOWNER, or GIT_ENOTFOUND about `safe.directory` when that is not configured.
bool is_owner_refusal(int result);

/// Turns a failed call into an error: `code` and `message` say what we were doing. A locked file,
/// a foreign owner, a full disk or a missing permission get their own code whatever `code` is.
diag::Diagnostic& report(int result, std::string_view code, std::string message, diag::Sink& sink);

/// report() for an object of `repository` that cannot be read: damage (GPU0505), unless the
/// repository is a partial clone and never had it (GPU0533).
void report_unread(git_repository* repository, int result, std::string message, diag::Sink& sink);

/// 40 lower-case hexadecimal digits.
std::string hex(const git_oid& id);

/// The git directory of the work tree, and the one that all work trees share; without a slash at
/// the end.
std::string git_directory_of(git_repository* repository);
std::string common_directory_of(git_repository* repository);

}  // namespace gpuctl::git
