#include "cli/fleets.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.hpp"
#include "cli/codes.hpp"
#include "cli/inputs.hpp"
#include "fleet/codes.hpp"
#include "pipeline/inputs.hpp"

namespace gpuctl::cli {

namespace {

// A word of the command line: the text of a fleet, its file, and which clusters of it.
struct Named {
  std::string file;
  std::string text;
  std::string cluster;  // empty: any
};

// Nothing when it is no fleet, or cannot be read, which is reported where it is run.
std::optional<Named> fleet_at(const std::string& word, const InputNames& inputs) {
  const auto read = [&](const std::string& file, std::string cluster) -> std::optional<Named> {
    const auto given = inputs.given.find(file);
    auto content = given != inputs.given.end()
                       ? std::variant<std::string, base::FileError>(given->second)
                       : base::read_file(file, pipeline::kMostInputBytes);
    auto* text = std::get_if<std::string>(&content);
    if (text == nullptr || !fleet::is_fleet(file, *text)) return std::nullopt;
    return Named{file, std::move(*text), std::move(cluster)};
  };
  if (std::optional<Named> whole = read(word, "")) return whole;
  const std::size_t mark = word.rfind('#');
  if (mark == std::string::npos) return std::nullopt;
  return read(word.substr(0, mark), word.substr(mark + 1));
}

bool fits(const std::string& pattern, const fleet::Cluster& cluster) {
  const bool whole = pattern.find('/') != std::string::npos;
  return ::fnmatch(pattern.c_str(), (whole ? cluster.id() : cluster.name).c_str(), 0) == 0;
}

void report_unknown(const std::string& pattern,
                    const std::vector<std::shared_ptr<const fleet::Fleet>>& fleets,
                    diag::Sink& sink) {
  std::vector<std::string> ids;
  for (const auto& one : fleets) {
    for (const fleet::Cluster& cluster : one->clusters()) {
      ids.push_back(cluster.id());
      ids.push_back(cluster.name);
    }
  }
  sink.error(fleet::kNoSuchCluster, diag::kNoOrigin,
             "no cluster is called `" + shown(pattern) + "`")
      .expect(
          "NAME or STAGE/NAME, `*` and `?` for other characters; `gpuctl fleet list` has the names")
      .did_you_mean(pattern, ids);
}

// The name of the wave that a cluster is in; nullptr: its stage has none.
const std::string* wave_of(const fleet::Fleet& fleet, const fleet::Cluster& cluster) {
  if (cluster.stage_index >= fleet.stages().size()) return nullptr;
  const std::vector<fleet::Wave>& waves = fleet.stages()[cluster.stage_index].waves;
  return cluster.wave < waves.size() ? &waves[cluster.wave].name : nullptr;
}

// Chooses among the clusters of all fleets, and remembers which words were of use.
class Choice {
 public:
  explicit Choice(const BlueprintOptions& options)
      : options_(options),
        used_clusters_(options.clusters.size()),
        used_stages_(options.stages.size()),
        used_waves_(options.waves.size()) {}

  bool takes(const fleet::Fleet& fleet, const fleet::Cluster& cluster) {
    bool of_wave = options_.waves.empty();
    const std::string* wave = wave_of(fleet, cluster);
    for (std::size_t i = 0; i < options_.waves.size(); ++i) {
      if (wave == nullptr || options_.waves[i] != *wave) continue;
      of_wave = true;
      used_waves_[i] = true;
    }
    bool of_stage = options_.stages.empty();
    for (std::size_t i = 0; i < options_.stages.size(); ++i) {
      if (options_.stages[i] != cluster.stage) continue;
      of_stage = true;
      used_stages_[i] = true;
    }
    bool named = options_.clusters.empty();
    for (std::size_t i = 0; i < options_.clusters.size(); ++i) {
      if (!fits(options_.clusters[i], cluster)) continue;
      named = true;
      used_clusters_[i] = true;
    }
    return of_stage && of_wave && named;
  }

  void report_unused(const ChosenClusters& all, diag::Sink& sink) const {
    std::vector<std::string> stages;
    for (const auto& one : all.fleets) {
      for (const fleet::Stage& stage : one->stages()) stages.push_back(stage.name);
    }
    for (std::size_t i = 0; i < used_stages_.size(); ++i) {
      if (used_stages_[i]) continue;
      sink.error(fleet::kNoSuchCluster, diag::kNoOrigin,
                 "no cluster is of stage `" + shown(options_.stages[i]) + "`")
          .expect(stages.empty() ? "a fleet with stages" : "one of " + base::join(stages, ", "))
          .did_you_mean(options_.stages[i], stages);
    }
    std::vector<std::string> waves;
    for (const auto& one : all.fleets) {
      for (const fleet::Stage& stage : one->stages()) {
        for (const fleet::Wave& wave : stage.waves) waves.push_back(wave.name);
      }
    }
    for (std::size_t i = 0; i < used_waves_.size(); ++i) {
      if (used_waves_[i]) continue;
      sink.error(fleet::kNoSuchCluster, diag::kNoOrigin,
                 "no cluster is of wave `" + shown(options_.waves[i]) + "`")
          .expect(waves.empty() ? "a fleet whose stages have waves"
                                : "one of " + base::join(waves, ", "))
          .did_you_mean(options_.waves[i], waves);
    }
    for (std::size_t i = 0; i < used_clusters_.size(); ++i) {
      if (!used_clusters_[i]) report_unknown(options_.clusters[i], all.fleets, sink);
    }
  }

 private:
  const BlueprintOptions& options_;
  std::vector<bool> used_clusters_;
  std::vector<bool> used_stages_;
  std::vector<bool> used_waves_;
};

// Puts clusters of stages with waves into `places`, and into `before` those of waves before one
// that was chosen.
void look_at_waves(const fleet::Fleet& fleet, ChosenClusters& out) {
  std::map<std::size_t, std::size_t> last;  // the last wave of a stage that was chosen
  std::set<const fleet::Cluster*> chosen;
  for (const Chosen& one : out.chosen) {
    if (one.fleet != &fleet) continue;
    chosen.insert(one.cluster);
    std::size_t& wave = last[one.cluster->stage_index];
    wave = std::max(wave, one.cluster->wave);
  }
  for (const fleet::Cluster& cluster : fleet.clusters()) {
    const std::string* wave = wave_of(fleet, cluster);
    if (wave == nullptr) continue;
    out.places[cluster.id()] = {cluster.stage, *wave, cluster.wave,
                                fleet.stages()[cluster.stage_index].waves[cluster.wave].soak};
    const auto found = last.find(cluster.stage_index);
    if (chosen.contains(&cluster) || found == last.end() || cluster.wave >= found->second) continue;
    out.before.push_back(member_name(fleet, cluster));
    out.members->emplace(out.before.back(), fleet.member(cluster));
  }
}

}  // namespace

std::string member_name(const fleet::Fleet& fleet, const fleet::Cluster& cluster) {
  return fleet.file() + "#" + cluster.id();
}

void report_unreadable(const ChosenClusters& chosen, diag::Sink& sink) {
  for (const std::string& file : chosen.blueprints) {
    if (chosen.given.contains(file)) continue;
    const auto content = base::read_file(file, pipeline::kMostInputBytes);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      sink.error(pipeline::kUnreadable, diag::kNoOrigin,
                 "cannot read `" + shown(file) + "`: " + error->text);
    }
  }
}

std::optional<ChosenClusters> choose_clusters(const BlueprintOptions& options, Knowledge& knowledge,
                                              Report& report) {
  ChosenClusters out;
  Choice choice(options);
  bool good = true;
  diag::Sink sink;
  const std::optional<InputNames> inputs = find_inputs(options.blueprints, sink);
  if (!inputs) {
    report.show(sink, diag::Sources());
    return std::nullopt;
  }
  out.given = inputs->given;
  for (const std::string& word : inputs->files) {
    std::optional<Named> named = fleet_at(word, *inputs);
    if (!named) {
      out.blueprints.push_back(word);
      continue;
    }
    const auto read =
        std::make_shared<fleet::Fleet>(named->file, std::move(named->text), knowledge);
    report.show(read->sink(), read->sources());
    good = good && !read->sink().has_errors();
    if (out.members == nullptr) out.members = std::make_shared<pipeline::Members>();
    bool found = named->cluster.empty();
    for (const fleet::Cluster& cluster : read->clusters()) {
      if (!named->cluster.empty() && !fits(named->cluster, cluster)) continue;
      found = true;
      if (!choice.takes(*read, cluster)) continue;
      out.blueprints.push_back(member_name(*read, cluster));
      out.members->emplace(out.blueprints.back(), read->member(cluster));
      out.chosen.push_back({read.get(), &cluster});
    }
    if (!found && good) report_unknown(named->cluster, {read}, sink);
    look_at_waves(*read, out);
    out.fleets.push_back(read);
  }
  if (!good) return std::nullopt;
  const bool chooses =
      !options.clusters.empty() || !options.stages.empty() || !options.waves.empty();
  const bool none = out.fleets.empty() && chooses;
  if (none) report_unreadable(out, sink);
  if (none && !sink.has_errors()) {
    sink.error(kUsage, diag::kNoOrigin,
               "`--cluster`, `--stage` and `--wave` choose among clusters of a fleet")
        .got("no fleet");
  } else if (!sink.has_errors()) {
    choice.report_unused(out, sink);
  }
  if (!sink.has_errors() && out.blueprints.empty()) {
    sink.error(fleet::kNoSuchCluster, diag::kNoOrigin, "no cluster is left")
        .expect("a cluster that is of the stage and has the name");
  }
  report.show(sink, diag::Sources());
  if (sink.has_errors()) return std::nullopt;
  return out;
}

bool expand_fleets(BlueprintOptions& options, Request& request, Knowledge& knowledge,
                   Report& report) {
  std::optional<ChosenClusters> chosen = choose_clusters(options, knowledge, report);
  if (!chosen) return false;
  options.blueprints = std::move(chosen->blueprints);
  request.given.merge(chosen->given);
  if (chosen->fleets.empty()) return true;
  options.places = std::move(chosen->places);
  options.before = std::move(chosen->before);
  // Members are of use as long as their fleets are there.
  struct Kept {
    std::vector<std::shared_ptr<const fleet::Fleet>> fleets;
    pipeline::Members members;
  };
  const auto kept =
      std::make_shared<Kept>(Kept{std::move(chosen->fleets), std::move(*chosen->members)});
  request.members = std::shared_ptr<const pipeline::Members>(kept, &kept->members);
  return true;
}

bool expand_one(std::string& blueprint, Request& request, Knowledge& knowledge, Report& report) {
  BlueprintOptions only;
  only.blueprints = {blueprint};
  if (!expand_fleets(only, request, knowledge, report)) return false;
  if (only.blueprints.size() != 1) {
    diag::Sink sink;
    sink.error(fleet::kNoSuchCluster, diag::kNoOrigin,
               "`" + shown(blueprint) + "` is a fleet, and this is about one cluster")
        .got(counted(only.blueprints.size(), "cluster"))
        .expect("`" + shown(blueprint) + "#STAGE/NAME`; `gpuctl fleet list` has the names");
    report.show(sink, diag::Sources());
    return false;
  }
  blueprint = only.blueprints.front();
  return true;
}

}  // namespace gpuctl::cli
