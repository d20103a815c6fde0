// Partitions of a GPU, drawn for a terminal.
#pragma once

#include <string>

#include "gpu/mig.hpp"

namespace gpuctl::cli {

/// Two lines: the memory slices, and what lies on them. `.` is free, `x` lost: no instance of the
/// class can use the unit any more.
std::string draw_mig(const gpu::MigClass& gpu, const gpu::MigPlacement& placed);

}  // namespace gpuctl::cli
