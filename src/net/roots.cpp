#include "net/roots.hpp"

#include <unistd.h>

#include <cstdlib>

namespace gpuctl::net {

std::string system_roots() {
  const char* chosen = std::getenv("SSL_CERT_FILE");  // NOLINT: nothing here sets the environment
  if (chosen != nullptr && *chosen != '\0') return chosen;
  for (const char* path :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (::access(path, R_OK) == 0) return path;
  }
  return "";
}

}  // namespace gpuctl::net
