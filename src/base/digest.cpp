// The plain functions of OpenSSL: the newer ones read the system's configuration of the library and
// set up its providers first, which takes longer than all digests of a cluster.
#define OPENSSL_API_COMPAT 0x10100000L
#include "base/digest.hpp"

#include <openssl/sha.h>

#include <array>

namespace gpuctl::base {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(digest.data(), &context);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(digest.size() * 2);
  for (const unsigned char byte : digest) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0x0FU];
  }
  return out;
}

}  // namespace gpuctl::base
