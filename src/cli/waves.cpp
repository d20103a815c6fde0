#include "cli/waves.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cli/batch.hpp"
#include "cli/codes.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::size_t kMostNamed = 5;

// "`prod/a`, `prod/b` and 3 more".
std::string named(const std::vector<std::string>& clusters) {
  std::string out;
  for (std::size_t i = 0; i < clusters.size() && i < kMostNamed; ++i) {
    out += (i == 0 ? "`" : ", `") + clusters[i] + "`";
  }
  if (clusters.size() > kMostNamed) {
    out += " and " + std::to_string(clusters.size() - kMostNamed) + " more";
  }
  return out;
}

// "2 h 5 min", of whole minutes.
std::string duration(std::int64_t seconds) {
  const std::int64_t minutes = std::max<std::int64_t>(1, (seconds + 59) / 60);
  if (minutes < 60) return std::to_string(minutes) + " min";
  const std::int64_t rest = minutes % 60;
  return std::to_string(minutes / 60) + " h" +
         (rest == 0 ? "" : " " + std::to_string(rest) + " min");
}

// A wave, with what is known of its clusters.
struct Wave {
  std::string name;
  std::vector<std::string> changing;
  std::int64_t left = 0;  // seconds until the next may change
  std::string youngest;   // the cluster that this is because of
};

void check_stage(const std::map<std::size_t, Wave>& waves, diag::Sink& sink) {
  const Wave* earlier = nullptr;  // the nearest before that changes
  const Wave* young = nullptr;    // one before whose time is not over
  for (const auto& [index, wave] : waves) {
    if (!wave.changing.empty() && earlier != nullptr) {
      sink.error(kWaveAhead, diag::kNoOrigin,
                 "wave `" + wave.name + "` would change before wave `" + earlier->name +
                     "` is through")
          .note("wave `" + earlier->name + "` still changes: " + named(earlier->changing))
          .note("wave `" + wave.name + "`: " + named(wave.changing))
          .suggest("commit one after the other: `--wave " + earlier->name + "` first");
      return;
    }
    if (!wave.changing.empty() && young != nullptr) {
      sink.error(kWaveSoaks, diag::kNoOrigin,
                 "wave `" + wave.name + "` would change " + duration(young->left) + " too early")
          .note("`" + young->youngest + "` of wave `" + young->name +
                "` changed last, and its `soak` is not over")
          .suggest(
              "wait, and look at that wave meanwhile: `gpuctl status`, its alerts; or give "
              "`--ignore-waves`");
      return;
    }
    if (!wave.changing.empty()) earlier = &wave;
    if (wave.left > 0) young = &wave;
  }
}

}  // namespace

void check_waves(const std::vector<WaveGate>& gates, diag::Sink& sink) {
  std::map<std::string, std::map<std::size_t, Wave>> stages;
  for (const WaveGate& gate : gates) {
    Wave& wave = stages[gate.place.stage][gate.place.index];
    wave.name = gate.place.wave;
    if (gate.changes) wave.changing.push_back(gate.cluster);
    const std::int64_t left = gate.since ? gate.place.soak - *gate.since : 0;
    if (left <= wave.left) continue;
    wave.left = left;
    wave.youngest = gate.cluster;
  }
  for (const auto& [stage, waves] : stages) check_stage(waves, sink);
}

std::vector<std::string> pending_of(const std::vector<std::string>& blueprints,
                                    const Request& request, const Base& base,
                                    const ApplyOptions& options, Knowledge& knowledge,
                                    const Report& report) {
  std::vector<std::string> out(blueprints.size());
  Request look = request;
  look.encrypt = false;
  run_all(blueprints, look, knowledge, thread_count(options.inputs.jobs), report,
          [&](std::size_t index, Result& result) {
            if (!result.opened) {
              out[index] = blueprints[index];
              return;
            }
            if (result.sink.has_errors() || !result.output) {
              out[index] = result.cluster();
              return;
            }
            if (result.loaded->lock() == nullptr) return;
            const Planned planned = plan_cluster(result, base, options, nullptr);
            if (planned.findings.has_errors() || !planned.changes.empty()) {
              out[index] = result.cluster();
            }
          });
  std::erase(out, "");
  return out;
}

}  // namespace gpuctl::cli
