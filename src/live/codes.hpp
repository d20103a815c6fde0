// Codes of what goes wrong with programs that others made. docs/codes/ has a page for each.
#pragma once

#include <string_view>

namespace gpuctl::live {

inline constexpr std::string_view kNoProgram = "GPU0410";  // a program that is needed is not there

}  // namespace gpuctl::live
