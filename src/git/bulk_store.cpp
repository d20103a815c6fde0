#include "git/bulk_store.hpp"

#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>

#include <limits>

#include "git/codes.hpp"

namespace gpuctl::git {

std::optional<BulkStore> BulkStore::open(git_repository* repository, diag::Sink& sink) {
  const auto fail = [&](int code) {
    report(code, kCannotWrite, "cannot prepare to write many objects", sink);
    return std::nullopt;
  };
  Owned<git_repository> handle;
  int code = git_repository_open_ext(Receive(handle), git_repository_path(repository),
                                     GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  if (code != 0) return fail(code);
  Owned<git_odb> store;
  code = git_repository_odb(Receive(store), handle.get());
  if (code != 0) return fail(code);
  git_odb_backend* memory = nullptr;
  code = git_mempack_new(&memory);
  if (code != 0) return fail(code);
  // The highest priority takes all writes; the store owns the backend from here on.
  code = git_odb_add_backend(store.get(), memory, std::numeric_limits<int>::max());
  if (code != 0) {
    memory->free(memory);
    return fail(code);
  }
  return BulkStore(std::move(handle));
}

bool BulkStore::save(git_repository* target, std::span<const git_oid> objects, diag::Sink& sink) {
  const auto fail = [&](int code) {
    report(code, kCannotWrite, "cannot write the new objects as a pack", sink);
    return false;
  };
  Owned<git_odb> on_disk;
  int code = git_repository_odb(Receive(on_disk), target);
  if (code != 0) return fail(code);
  Owned<git_packbuilder> pack;
  code = git_packbuilder_new(Receive(pack), handle_.get());
  if (code != 0) return fail(code);
  for (const git_oid& object : objects) {
    if (git_odb_exists_ext(on_disk.get(), &object, GIT_ODB_LOOKUP_NO_REFRESH) != 0) continue;
    code = git_packbuilder_insert(pack.get(), &object, nullptr);
    if (code != 0) return fail(code);
  }
  if (git_packbuilder_object_count(pack.get()) == 0) return true;
  code = git_packbuilder_write(pack.get(), nullptr, 0, nullptr, nullptr);
  if (code != 0) return fail(code);
  code = git_odb_refresh(on_disk.get());
  return code == 0 || fail(code);
}

}  // namespace gpuctl::git
