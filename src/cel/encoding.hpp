// Text encodings that several function libraries share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpuctl::cel {

std::string base64_encode(std::string_view bytes);

/// Standard alphabet, or the one for URLs (`-` and `_`). Padding may be missing, other characters
/// may not be there. Nothing when it is no base64.
std::optional<std::string> base64_decode(std::string_view text, bool url = false);

}  // namespace gpuctl::cel
