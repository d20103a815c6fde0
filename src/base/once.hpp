// What is made at first use, by whichever thread comes first.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace gpuctl::base {

/// Like std::once_flag, which in glibc makes a system call each time something was made: there are
/// hundreds of these in a run.
class Once {
 public:
  Once() = default;
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  /// Runs `make` unless that was done before, and returns when it is done. When `make` throws, the
  /// next caller runs it again. `make` must not come back here.
  template <typename Make>
  void call(Make&& make) {
    if (state_.load(std::memory_order_acquire) != kDone) run(std::forward<Make>(make));
  }

 private:
  enum : std::uint32_t { kNew, kRunning, kDone };

  template <typename Make>
  void run(Make&& make) {
    for (;;) {
      std::uint32_t seen = kNew;
      if (state_.compare_exchange_strong(seen, kRunning, std::memory_order_acquire)) break;
      if (seen == kDone) return;
      state_.wait(kRunning, std::memory_order_acquire);
      if (state_.load(std::memory_order_acquire) == kDone) return;
    }
    try {
      std::forward<Make>(make)();
    } catch (...) {
      set(kNew);
      throw;
    }
    set(kDone);
  }

  void set(std::uint32_t state) {
    state_.store(state, std::memory_order_release);
    state_.notify_all();
  }

  std::atomic<std::uint32_t> state_ = kNew;
};

}  // namespace gpuctl::base
