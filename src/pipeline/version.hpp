// The version of the program, from the build.
#pragma once

namespace gpuctl::pipeline {

inline constexpr const char* kVersion = GPUCTL_VERSION;

}  // namespace gpuctl::pipeline
