// SHA-256 digests (through OpenSSL).
#pragma once

#include <string>
#include <string_view>

namespace gpuctl::base {

/// Lower-case hexadecimal SHA-256 of `bytes` (64 characters).
std::string sha256_hex(std::string_view bytes);

}  // namespace gpuctl::base
