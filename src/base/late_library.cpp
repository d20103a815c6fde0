#include "base/late_library.hpp"

#include <dlfcn.h>

#include <cstring>

namespace gpuctl::base {

std::optional<std::string> load_late(const char* file, const char* names, void** slots) {
  const auto reason = [] {
    const char* said = ::dlerror();
    return std::string(said == nullptr ? "unknown reason" : said);
  };
  // Never closed: the process calls it until it ends.
  void* library = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return reason();
  for (const char* name = names; *name != '\0'; name += std::strlen(name) + 1) {
    *slots = ::dlsym(library, name);
    if (*slots == nullptr) return reason();
    ++slots;
  }
  return std::nullopt;
}

}  // namespace gpuctl::base
