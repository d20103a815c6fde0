// URLs, as far as several function libraries look at them.
#pragma once

#include <string_view>

namespace gpuctl::cel {

/// True for an absolute URI or an absolute path.
bool is_url(std::string_view text);

}  // namespace gpuctl::cel
