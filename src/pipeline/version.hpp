// The version of the program, from the build.
#pragma once

namespace gpuctl::pipeline {

inline constexpr const char* kVersion = GPUCTL_VERSION;
/// Since when it is what it is, for pages of the manual: their bytes depend on no clock.
inline constexpr const char* kVersionDay = "2026-11-27";

}  // namespace gpuctl::pipeline
