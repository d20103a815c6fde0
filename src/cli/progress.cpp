#include "cli/progress.hpp"

#include <cstdio>
#include <string>

namespace gpuctl::cli {

namespace {

constexpr std::chrono::seconds kPatience{2};
constexpr std::chrono::milliseconds kPause{100};  // what people can read
constexpr const char* kErased = "\r\x1b[K";       // the line under the cursor

}  // namespace

Progress::Progress(const Report& report, std::size_t clusters)
    : watched_(report.is_watched()), clusters_(clusters), next_(Clock::now() + kPatience) {}

Progress::~Progress() {
  if (shown_) std::fputs(kErased, stderr);
}

void Progress::advance() {
  if (!watched_) return;
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  ++done_;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kPause;
  shown_ = true;
  const std::string line = kErased + std::to_string(done_) + " of " + counted(clusters_, "cluster");
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace gpuctl::cli
