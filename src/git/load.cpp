#include "git/load.hpp"

#ifdef GPUCTL_LIBGIT2
#include <dlfcn.h>

#include <cstring>
#include <stdexcept>
#include <string>

// Of the stubs that the build makes (cmake/libgit2_stubs.cmake): the names one after the other, an
// empty one at the end, and as many addresses.
extern "C" {
extern const char gpuctl_libgit2_names[];  // NOLINT: linker symbols
extern void* gpuctl_libgit2_slots[];       // NOLINT
}

namespace gpuctl::git {

void load_library() {
  const auto fail = [] {
    const char* reason = ::dlerror();
    throw std::runtime_error(std::string("cannot load libgit2: ") +
                             (reason == nullptr ? "unknown reason" : reason) +
                             "; install the library " GPUCTL_LIBGIT2);
  };
  // Never closed: the process calls it until it ends.
  void* library = ::dlopen(GPUCTL_LIBGIT2, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) fail();
  void** slot = static_cast<void**>(gpuctl_libgit2_slots);
  for (const char* name = gpuctl_libgit2_names; *name != '\0'; name += std::strlen(name) + 1) {
    *slot = ::dlsym(library, name);
    if (*slot == nullptr) fail();
    ++slot;
  }
}

}  // namespace gpuctl::git

#else

namespace gpuctl::git {

void load_library() {}

}  // namespace gpuctl::git

#endif
