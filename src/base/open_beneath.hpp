// The system call openat2 (Linux 5.6), for which the C library has no function.
#pragma once

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace gpuctl::base {

/// Opens `path` below `directory` without leaving it, not even for a moment. `flags` as of open(),
/// `resolve` further RESOLVE_ flags. -1 and errno on failure; ENOSYS or EPERM where the call is
/// missing or forbidden.
inline int open_beneath(int directory, const std::string& path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;
  return static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
}

}  // namespace gpuctl::base
