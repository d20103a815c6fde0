// Deadlines of questions to the network.
#pragma once

#include <algorithm>
#include <chrono>

namespace gpuctl::net {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// What is left until a deadline, at least 0 and at most an hour, rounded up.
inline std::chrono::milliseconds left_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return std::clamp(left, std::chrono::milliseconds(0),
                    std::chrono::milliseconds(std::chrono::hours(1)));
}

}  // namespace gpuctl::net
