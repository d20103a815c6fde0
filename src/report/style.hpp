#pragma once

#include <string_view>

namespace gpuctl::report {

/// The style sheet of a page.
extern const std::string_view kStyle;

}  // namespace gpuctl::report
