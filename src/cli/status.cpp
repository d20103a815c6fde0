#include <poll.h>

#include <chrono>
#include <memory>

#include "cli/columns.hpp"
#include "cli/installation.hpp"
#include "install/codes.hpp"

namespace gpuctl::cli {

namespace {

struct StatusOptions {
  InstalledOptions installed;
  bool journal_only = false;
  bool watch = false;
  int every = 10;  // seconds
};

using Lines = std::vector<std::vector<std::string>>;

// What became of each step, a line each.
Lines step_lines(install::Driver& driver, const install::Story& story,
                 std::vector<yaml::Node>& steps, yaml::Arena& arena) {
  Lines lines = {{"STEP", "STATE", "SINCE (UTC)", ""}};
  for (const steps::Step& step : driver.known().steps->install) {
    const install::StepStory& told = story.step(step.name);
    if (told.outcome == install::Outcome::none) continue;
    const bool runs = told.outcome == install::Outcome::started && base::lives(told.process);
    std::string outcome(install::name_of(told.outcome));
    if (told.outcome == install::Outcome::started) outcome = runs ? "running" : "interrupted";
    std::string phase = told.phase;
    std::string where = phase.empty() ? "" : "in phase " + phase;
    if (told.outcome == install::Outcome::started) {
      if (const auto now = driver.log_now(step)) {
        phase = now->first;
        where = phase + ": " + now->second;
      }
    }
    yaml::MapBuilder row;
    row.set(arena, "name", arena.string(step.name));
    row.set(arena, "outcome", arena.string(outcome));
    row.set(arena, "began", arena.string(told.began));
    if (!told.ended.empty()) row.set(arena, "ended", arena.string(told.ended));
    if (!phase.empty()) row.set(arena, "phase", arena.string(phase));
    steps.push_back(row.build(arena));
    lines.push_back({step.name, outcome, told.ended.empty() ? told.began : told.ended, where});
  }
  return lines;
}

Lines standing_lines(const std::vector<install::Driver::Standing>& standings,
                     std::vector<yaml::Node>& rows, yaml::Arena& arena) {
  Lines lines = {{"CONDITION", "NOW"}};
  for (const install::Driver::Standing& one : standings) {
    const std::string state = !one.good ? "unknown" : *one.good ? "ok" : "missing";
    lines.push_back({one.name, state});
    for (const std::string& line : one.missing) lines.push_back({"", "- " + line});
    if (state == "missing" && !one.show.empty()) lines.push_back({"", one.show});
    yaml::MapBuilder row;
    row.set(arena, "name", arena.string(one.name));
    row.set(arena, "state", arena.string(state));
    row.set(arena, "missing", texts(one.missing, arena));
    rows.push_back(row.build(arena));
  }
  return lines;
}

// One screen; false when something is not as it should be.
bool show_once(const StatusOptions& options, install::Driver& driver, const install::Story& story,
               const GlobalOptions& global, bool& printed) {
  yaml::Arena& arena = global.result->arena();
  std::string out =
      story.cluster + " on " + story.platform + ", attempt " + std::to_string(story.attempt);
  for (const auto& [name, value] : story.identity) out += ", " + name + " " + value;
  std::vector<yaml::Node> rows;
  out += "\n\n" + in_columns(step_lines(driver, story, rows, arena));
  global.result->set("steps", arena.list(rows));
  bool good = true;
  if (!options.journal_only) {
    const std::vector<install::Driver::Standing> standings = driver.standings();
    std::vector<yaml::Node> conditions;
    out += "\n" + in_columns(standing_lines(standings, conditions, arena));
    global.result->set("conditions", arena.list(conditions));
    for (const auto& one : standings) good = good && one.good.value_or(false);
  }
  global.result->set("cluster", story.cluster);
  global.result->set_flag("good", good);
  printed = print(out, global);
  return good;
}

int run_status(StatusOptions& options, const GlobalOptions& global) {
  Report report(global);
  const auto directory = options.installed.place(report);
  if (!directory) return kFindings;
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  std::unique_ptr<Installation> installation;  // of the first look
  for (;;) {
    diag::Sink sink;
    auto place = install::Place::open(*directory, install::Place::Use::read, sink);
    std::optional<install::Journal> journal;
    if (place) journal = install::Journal::open(*place, sink);
    if (!journal) {
      report.show(sink, diag::Sources());
      return kFindings;
    }
    if (installation == nullptr) {
      options.installed.complete(journal->story());
      installation = std::make_unique<Installation>(options.installed.apply, global, *knowledge,
                                                    report, false);
    }
    const std::unique_ptr<install::Driver> driver = installation->drive(*place, *journal);
    if (driver == nullptr) return kFindings;
    bool printed = true;
    const bool good = show_once(options, *driver, journal->story(), global, printed);
    if (!printed) return kFindings;
    if (!options.watch || good) return good ? kOk : kFindings;
    ::poll(nullptr, 0, options.every * 1000);
    print("\n", global);
  }
}

RunFunction set_up_status(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<StatusOptions>();
  options->installed.add_to(command);
  command.add_flag("--journal", options->journal_only, "Ask the cluster nothing");
  command.add_flag("--watch", options->watch, "Show it again and again until all is well");
  command.add_option("--every", options->every, "Seconds between two looks of --watch")
      .in_range(1, 3600)
      .capture_default_str();
  return [options, &global] { return run_status(*options, global); };
}

}  // namespace

Command status_command() {
  return {"status", "Show how far a cluster is, and what it lacks",
          "The steps of its journal, and what the cluster answers to each condition that `install` "
          "waits\n"
          "for. Works while an installation runs. Exit code 1 when something is missing.\n\n"
          "Example:\n"
          "  gpuctl status gpu-lab\n"
          "  gpuctl status dev/gpu-lab --watch\n"
          "  gpuctl status gpu-lab --format json\n",
          set_up_status};
}

}  // namespace gpuctl::cli
