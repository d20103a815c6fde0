// What a server shows of itself by TLS, judged as another program of this machine would judge it.
#pragma once

#include <cstdint>
#include <string>

#include "net/connection.hpp"

namespace gpuctl::net {

/// The certificate of a server and whether it is trusted.
struct TlsAnswer {
  bool shaken = false;  // the handshake came to its end; the rest is only known then
  std::string why;      // otherwise
  Connection::Outcome outcome = Connection::Outcome::failed;
  bool trusted = false;  // by the store of the operating system and the given authorities
  bool named = false;    // the certificate is for this host
  std::string fault;     // why it is not trusted, as OpenSSL says it
  bool expired = false;  // it, or one above it, is too old or too young
  bool unknown = false;  // nobody who is trusted has signed it
  std::string subject;
  std::string issuer;
  std::string names;      // DNS names and addresses it is for, by commas
  std::int64_t days = 0;  // until it ends; negative: since then
  std::string version;    // "TLSv1.3"
};

/// Shakes hands with a server and looks at its certificate; sends nothing else. `authorities` in
/// PEM form are trusted besides those of the operating system; may be empty.
TlsAnswer ask_tls(const std::string& host, int port, const std::string& authorities,
                  Deadline deadline);

}  // namespace gpuctl::net
