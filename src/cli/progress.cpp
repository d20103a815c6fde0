#include "cli/progress.hpp"

#include <condition_variable>
#include <cstdio>
#include <string>

namespace gpuctl::cli {

namespace {

constexpr std::chrono::seconds kPatience{2};
constexpr std::chrono::milliseconds kPause{100};  // what people can read
using Clock = std::chrono::steady_clock;
constexpr const char* kErased = "\r\x1b[K";  // the line under the cursor

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

Waiting::Waiting(const Report& report, const std::string& what) {
  if (!report.is_watched()) return;
  line_ = std::jthread([what](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock<std::mutex> lock(mutex);
    const Clock::time_point begin = Clock::now();
    const auto wait = [&](std::chrono::milliseconds time) {
      wake.wait_for(lock, stop, time, [] { return false; });
      return !stop.stop_requested();
    };
    if (!wait(kPatience)) return;
    do {
      const auto seconds =
          std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count();
      std::fprintf(stderr, "%s%s, %lld s", kErased, what.c_str(), static_cast<long long>(seconds));
      std::fflush(stderr);
    } while (wait(std::chrono::seconds{1}));
    std::fputs(kErased, stderr);
    std::fflush(stderr);
  });
}

}  // namespace gpuctl::cli
