#include "net/load.hpp"

#include <ares.h>
#include <curl/curl.h>

#include <mutex>

#include "base/late_library.hpp"

// Of the jumps that the build makes (cmake/late_library.cmake).
extern "C" {
#ifdef GPUCTL_LIBCARES
extern const char gpuctl_libcares_names[];  // NOLINT: linker symbols
extern void* gpuctl_libcares_slots[];       // NOLINT
#endif
#ifdef GPUCTL_LIBCURL
extern const char gpuctl_libcurl_names[];  // NOLINT
extern void* gpuctl_libcurl_slots[];       // NOLINT
#endif
#ifdef GPUCTL_LIBSSL
extern const char gpuctl_libssl_names[];  // NOLINT
extern void* gpuctl_libssl_slots[];       // NOLINT
#endif
}

namespace gpuctl::net {
namespace {

[[maybe_unused]] std::optional<std::string> load(const char* file, const char* names,
                                                 void** slots) {
  const std::optional<std::string> fault = base::load_late(file, names, slots);
  if (!fault) return std::nullopt;
  return "cannot load " + std::string(file) + ": " + *fault;
}

std::optional<std::string> load_all() {
  std::optional<std::string> fault;
#ifdef GPUCTL_LIBCARES
  fault = load(GPUCTL_LIBCARES, static_cast<const char*>(gpuctl_libcares_names),
               static_cast<void**>(gpuctl_libcares_slots));
  if (fault) return fault;
#endif
#ifdef GPUCTL_LIBCURL
  fault = load(GPUCTL_LIBCURL, static_cast<const char*>(gpuctl_libcurl_names),
               static_cast<void**>(gpuctl_libcurl_slots));
  if (fault) return fault;
#endif
#ifdef GPUCTL_LIBSSL
  fault = load(GPUCTL_LIBSSL, static_cast<const char*>(gpuctl_libssl_names),
               static_cast<void**>(gpuctl_libssl_slots));
  if (fault) return fault;
#endif
  if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS ||
      curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    fault = "the network libraries cannot be initialised";
  }
  return fault;
}

}  // namespace

std::optional<std::string> load_libraries() {
  static std::once_flag once;
  static std::optional<std::string> fault;
  std::call_once(once, [] { fault = load_all(); });
  return fault;
}

}  // namespace gpuctl::net
