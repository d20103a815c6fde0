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
inline constexpr std::string_view kUnsignedCommit = "GPU0511";
// Repositories elsewhere.
inline constexpr std::string_view kBadAddress = "GPU0512";
inline constexpr std::string_view kPasswordInAddress = "GPU0513";
inline constexpr std::string_view kUnknownHostKey = "GPU0514";
inline constexpr std::string_view kChangedHostKey = "GPU0515";
inline constexpr std::string_view kNotAllowed = "GPU0516";
inline constexpr std::string_view kRemoteNotFound = "GPU0517";
inline constexpr std::string_view kUnreachable = "GPU0518";
inline constexpr std::string_view kCertificate = "GPU0519";
inline constexpr std::string_view kDeadline = "GPU0520";
inline constexpr std::string_view kPushRefused = "GPU0521";
inline constexpr std::string_view kProtectedBranch = "GPU0522";
inline constexpr std::string_view kPushLost = "GPU0523";
inline constexpr std::string_view kGitProgram = "GPU0524";
inline constexpr std::string_view kCacheLocked = "GPU0525";
inline constexpr std::string_view kCacheUnusable = "GPU0526";
inline constexpr std::string_view kTransport = "GPU0527";
inline constexpr std::string_view kNotConfirmed = "GPU0528";
inline constexpr std::string_view kSilent = "GPU0534";
// Work trees.
inline constexpr std::string_view kCheckoutFinished = "GPU0529";  // note
inline constexpr std::string_view kCheckoutFailed = "GPU0530";
inline constexpr std::string_view kCheckedOutElsewhere = "GPU0531";
inline constexpr std::string_view kBranchInWork = "GPU0532";
inline constexpr std::string_view kPartialClone = "GPU0533";
inline constexpr std::string_view kNotCreated = "GPU0535";
// Branches that are to be merged.
inline constexpr std::string_view kBranchKept = "GPU0536";     // note
inline constexpr std::string_view kBranchSettled = "GPU0537";  // warning

}  // namespace gpuctl::git
