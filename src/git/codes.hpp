// Codes of the diagnostics that this library gives; one page each under docs/codes.
#pragma once

#include <string_view>

namespace gpuctl::git {

inline constexpr std::string_view kNotARepository = "GPU0501";
inline constexpr std::string_view kForeignOwner = "GPU0502";
inline constexpr std::string_view kUnsupportedRepository = "GPU0503";
inline constexpr std::string_view kLocked = "GPU0504";
inline constexpr std::string_view kDamaged = "GPU0505";
inline constexpr std::string_view kCannotWrite = "GPU0506";
inline constexpr std::string_view kBranchMoved = "GPU0507";
inline constexpr std::string_view kUnsafePath = "GPU0508";
inline constexpr std::string_view kWorkTreeNotUpdated = "GPU0509";  // warning
inline constexpr std::string_view kBadIdentity = "GPU0510";
inline constexpr std::string_view kUnsignedCommit = "GPU0511";  // warning

}  // namespace gpuctl::git
