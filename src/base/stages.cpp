#include "base/stages.hpp"

namespace gpuctl::base {

namespace {

struct Counter {
  std::atomic<std::uint64_t> runs = 0;
  std::atomic<std::uint64_t> nanoseconds = 0;
};

std::array<Counter, kStages>& counters() {
  static std::array<Counter, kStages> all;
  return all;
}

Counter& counter_of(Stage stage) {
  return counters().at(static_cast<std::size_t>(stage));
}

// The innermost scope of this thread.
thread_local StageScope* innermost = nullptr;

}  // namespace

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::knowledge:
      return "load knowledge";
    case Stage::blueprint:
      return "load blueprint";
    case Stage::derive:
      return "derive";
    case Stage::check:
      return "check";
    case Stage::render:
      return "render";
    case Stage::verify:
      return "verify";
    case Stage::secrets:
      return "search for secrets";
    case Stage::assemble:
      return "assemble";
    case Stage::write:
      return "write or commit";
  }
  return "";
}

void start_stages() {
  StageScope::taken_ = true;
}

std::vector<StageTime> stage_times() {
  std::vector<StageTime> out;
  for (std::size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    const Counter& counter = counter_of(stage);
    if (counter.runs == 0) continue;
    out.push_back({stage, counter.runs, std::chrono::nanoseconds(counter.nanoseconds.load())});
  }
  return out;
}

void StageScope::begin(Stage stage) {
  const Clock::time_point now = Clock::now();
  running_ = true;
  stage_ = stage;
  outer_ = innermost;
  innermost = this;
  since_ = now;
  ++counter_of(stage).runs;
  if (outer_ != nullptr) outer_->pause(now);
}

void StageScope::end() {
  const Clock::time_point now = Clock::now();
  pause(now);
  innermost = outer_;
  if (outer_ != nullptr) outer_->since_ = now;
}

void StageScope::pause(Clock::time_point now) {
  counter_of(stage_).nanoseconds += static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - since_).count());
}

}  // namespace gpuctl::base
