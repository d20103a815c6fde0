// SHA-256 digests (through OpenSSL).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gpuctl::base {

using Sha256 = std::array<unsigned char, 32>;
Sha256 sha256(std::string_view bytes);

/// Lower-case hexadecimal SHA-256 of `bytes` (64 characters).
std::string sha256_hex(std::string_view bytes);

/// A quick number for a text: the same in the build and in a run. Texts may share one.
std::uint64_t quick_digest(std::string_view text);

/// SHA-1, which is how Git names objects; proves nothing against an attacker.
using Sha1 = std::array<unsigned char, 20>;

/// Of two parts, one after the other.
Sha1 sha1(std::string_view first, std::string_view second);

/// Of parts that come one by one.
class Sha1Stream {
 public:
  Sha1Stream();
  ~Sha1Stream();
  Sha1Stream(const Sha1Stream&) = delete;
  Sha1Stream& operator=(const Sha1Stream&) = delete;
  void add(std::string_view bytes);
  /// Once, at the end.
  Sha1 finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Lower-case hexadecimal digits.
std::string hex(std::span<const unsigned char> bytes);

}  // namespace gpuctl::base
