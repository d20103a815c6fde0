// Where the time of a run goes, stage by stage: what `gpuctl --profile` prints.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuctl::base {

enum class Stage : std::uint8_t {
  knowledge,
  blueprint,
  derive,
  check,
  render,
  verify,
  secrets,
  assemble,
  write,
};
inline constexpr std::size_t kStages = 9;

/// "load knowledge", "derive", ...
std::string_view stage_name(Stage stage);

/// Time spent in one stage, without what other stages took inside of it, of all threads together.
struct StageTime {
  Stage stage = Stage::knowledge;
  std::uint64_t runs = 0;
  std::chrono::nanoseconds total{};
};

/// Takes times from now on. To be called before there are other threads.
void start_stages();
/// Of the stages that ran, in their order.
std::vector<StageTime> stage_times();

/// Counts its lifetime to a stage. Costs a look at a flag unless start_stages() was called.
class StageScope {
 public:
  explicit StageScope(Stage stage) {
    if (taken_) begin(stage);
  }
  ~StageScope() {
    if (running_) end();
  }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  friend void start_stages();
  using Clock = std::chrono::steady_clock;

  void begin(Stage stage);
  void end();
  /// Adds the time since it began or went on, and stops.
  void pause(Clock::time_point now);

  static inline bool taken_ = false;
  bool running_ = false;
  Stage stage_ = Stage::knowledge;
  StageScope* outer_ = nullptr;
  Clock::time_point since_;
};

}  // namespace gpuctl::base
