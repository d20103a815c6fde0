#include "cli/pricing.hpp"

#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::string_view kManifest = ".yaml";

// The documents of files; what is no YAML is left out.
class Documents {
 public:
  void add(const std::string& path, std::string text) {
    if (!path.ends_with(kManifest)) return;
    diag::Sink unsaid;
    const auto read = yaml::read_all(sources_.add_file(path, std::move(text)), sources_, arena_,
                                     unsaid, yaml::kubectl_limits());
    if (!read) return;
    for (const yaml::Node& document : *read) {
      if (document.get("kind").is_string()) documents_.push_back(document);
    }
  }

  yaml::Node list() { return arena_.list(documents_); }

 private:
  diag::Sources sources_;
  yaml::Arena arena_;
  std::vector<yaml::Node> documents_;
};

}  // namespace

std::optional<cost::Estimate> Pricing::estimate(const Result& result) {
  if (result.sink.has_errors() || !result.derived) return std::nullopt;
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  const cost::Costing& costing = tariffs_.platform(*result.opened->compiled->platform, faults_);
  return cost::estimate(result.cluster(), {costing, tariffs_, own_, hours_},
                        result.expression_inputs(), *result.arena);
}

std::optional<cost::Change> Pricing::change(const Result& result, const Base& base) {
  if (!result.output) return std::nullopt;
  const std::string& directory = result.output->files.directory;
  Documents before;
  diag::Sink unsaid;
  for (const auto& [path, blob] : base.list(directory, unsaid)) {
    if (std::optional<std::string> text = base.read(path, unsaid))
      before.add(path, std::move(*text));
  }
  Documents after;
  for (const auto& [path, content] : result.output->files.files) after.add(path, content);
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  const cost::Costing& costing = tariffs_.platform(*result.opened->compiled->platform, faults_);
  const auto machines_of = [&](Documents& documents) {
    return cost::estimate_committed(result.cluster(), {costing, tariffs_, own_, hours_},
                                    result.expression_inputs(), documents.list(), *result.arena);
  };
  const cost::Estimate old_machines = machines_of(before);
  const cost::Estimate machines = machines_of(after);
  cost::Change change{old_machines.month, machines.month};
  // Others make the machines, or they may be among what waits for facts.
  const bool none = old_machines.parts.empty() && machines.parts.empty();
  for (std::size_t i = 0; i < cost::kScales; ++i) {
    if (none || !result.rendered().withheld.empty()) change.after[i].complete = false;
    if (none && result.loaded->lock() != nullptr) change.before[i].complete = false;
  }
  return change;
}

}  // namespace gpuctl::cli
