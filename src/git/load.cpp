#include "git/load.hpp"

#ifdef GPUCTL_LIBGIT2
#include <stdexcept>

#include "base/late_library.hpp"

// Of the jumps that the build makes (cmake/late_library.cmake).
extern "C" {
extern const char gpuctl_libgit2_names[];  // NOLINT: linker symbols
extern void* gpuctl_libgit2_slots[];       // NOLINT
}

namespace gpuctl::git {

void load_library() {
  const auto fault = base::load_late(GPUCTL_LIBGIT2, static_cast<const char*>(gpuctl_libgit2_names),
                                     static_cast<void**>(gpuctl_libgit2_slots));
  if (!fault) return;
  throw std::runtime_error("cannot load libgit2: " + *fault +
                           "; install the library " GPUCTL_LIBGIT2);
}

}  // namespace gpuctl::git

#else

namespace gpuctl::git {

void load_library() {}

}  // namespace gpuctl::git

#endif
