// The plain functions of OpenSSL: the newer ones read the system's configuration of the library and
// set up its providers first, which takes longer than all digests of a cluster.
#define OPENSSL_API_COMPAT 0x10100000L
#include "base/digest.hpp"

#include <openssl/sha.h>

#include <array>
#include <cstring>

namespace gpuctl::base {

std::uint64_t quick_digest(std::string_view text) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  std::uint64_t digest = text.size();
  const auto add = [&digest](std::uint64_t word) {
    digest = (digest ^ word) * kFactor;
    digest ^= digest >> 32U;
  };
  std::uint64_t word = 0;
  // Of a size that is known here: a load, not a call.
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    add(word);
  }
  if (!text.empty()) {
    word = 0;
    std::memcpy(&word, text.data(), text.size());
    add(word);
  }
  return digest;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(digest.data(), &context);
  return hex(digest);
}

std::string hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0x0FU];
  }
  return out;
}

struct Sha1Stream::State {
  SHA_CTX context{};
};

Sha1Stream::Sha1Stream() : state_(std::make_unique<State>()) {
  SHA1_Init(&state_->context);
}

Sha1Stream::~Sha1Stream() = default;

void Sha1Stream::add(std::string_view bytes) {
  SHA1_Update(&state_->context, bytes.data(), bytes.size());
}

Sha1 Sha1Stream::finish() {
  Sha1 out{};
  SHA1_Final(out.data(), &state_->context);
  return out;
}

Sha1 sha1(std::string_view first, std::string_view second) {
  Sha1Stream stream;
  stream.add(first);
  stream.add(second);
  return stream.finish();
}

}  // namespace gpuctl::base
