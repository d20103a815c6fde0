// The certificates that this machine trusts.
#pragma once

#include <string>

namespace gpuctl::net {

/// Path of the file (PEM) with the roots that this machine trusts: what SSL_CERT_FILE names, or the
/// first one there is of where distributions have it. Empty where there is none. A library that was
/// built on another distribution looks in places of that one only. Places: Go, crypto/x509,
/// root_linux.go.
std::string system_roots();

}  // namespace gpuctl::net
