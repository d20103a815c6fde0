// Keeps secrets out of excerpts: a line of a user's file may hold one, by mistake.
#pragma once

#include <string>
#include <string_view>

namespace gpuctl::diag {

/// `line` with everything that looks like a secret replaced by `*`, byte for byte: the password of
/// a URL
/// (`//user:password@`) and long words that mix upper case, lower case and digits, as keys and
/// tokens do. Names and paths that people write stay readable.
std::string mask_secrets(std::string_view line);

}  // namespace gpuctl::diag
