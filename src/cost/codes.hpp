// Codes of what clusters cost. docs/codes/ has a page for each.
#pragma once

#include <string_view>

namespace gpuctl::cost {

inline constexpr std::string_view kFaultyCosts = "GPU0820";  // a file of kind Costs
inline constexpr std::string_view kIdleFigure = "GPU0821";   // a figure that no cluster needs
inline constexpr std::string_view kUnknownList = "GPU0822";  // a row names no price list
inline constexpr std::string_view kRentedAsOwn = "GPU0823";  // a list has owned machines

}  // namespace gpuctl::cost
