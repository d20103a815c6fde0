#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "cli/installation.hpp"
#include "doctor/examine.hpp"
#include "git/address.hpp"
#include "install/codes.hpp"
#include "pipeline/inputs.hpp"
#include "secrets/mask.hpp"

namespace gpuctl::cli {

namespace {

constexpr mode_t kPrivateMask = 077;

struct InstallOptions {
  ApplyOptions apply;
  std::string directory;
  std::string until;
  bool dry_run = false;
  bool no_preflight = false;
};

std::string absolute_path(const std::string& path) {
  std::error_code failure;
  const std::string out = std::filesystem::absolute(path, failure).lexically_normal().string();
  return failure ? path : out;
}

// Which repository it is, from whatever directory that is asked; without a user's token.
std::string place_of_repository(const std::string& repository) {
  if (!git::is_address(repository)) return absolute_path(repository);
  diag::Sink refused;  // the blueprint was run with it
  const std::optional<git::Address> address = git::read_address(repository, refused);
  return address ? address->url : std::string();
}

// The journal of this cluster, with what it is told anew.
bool begin(install::Journal& journal, const Result& result, const InstallOptions& options,
           const std::string& place, diag::Sink& sink) {
  const install::Story& story = journal.story();
  const std::string cluster = result.cluster();
  const std::string& platform = result.opened->blueprint.platform->name;
  if (!story.cluster.empty() && story.cluster != cluster) {
    sink.error(install::kOtherCluster, diag::kNoOrigin,
               "the journal in `" + place + "` is of cluster `" + story.cluster + "`, not of `" +
                   cluster + "`")
        .suggest("give another directory with `--dir`, or none");
    return false;
  }
  if (!story.platform.empty() && story.platform != platform) {
    sink.error(install::kOtherCluster, diag::kNoOrigin,
               "`" + cluster + "` was begun on platform `" + story.platform +
                   "`, and is to be on `" + platform + "` now")
        .suggest("`gpuctl destroy " + cluster + "` first");
    return false;
  }
  const std::string blueprint = absolute_path(options.apply.inputs.blueprints.front());
  const std::string repository = place_of_repository(options.apply.repository);
  const std::string& branch = options.apply.branch;
  if (story.cluster == cluster && story.blueprint == blueprint && story.repository == repository &&
      story.branch == branch) {
    return true;
  }
  return journal.begin(cluster, platform, blueprint, repository, branch, sink);
}

bool knows_step(const std::vector<std::string>& names, const std::string& until, diag::Sink& sink) {
  if (until.empty()) return true;
  for (const std::string& name : names) {
    if (name == until) return true;
  }
  sink.error(install::kNoSuchStep, diag::kNoOrigin, "there is no step `" + shown(until) + "`")
      .expect("one of " + base::join(names, ", "))
      .did_you_mean(until, names);
  return false;
}

// What must not fail before money is spent. False after GPU0724 for each check that does.
bool is_ready(const Result& result, const InstallOptions& options, Knowledge& knowledge,
              Report& report) {
  catalog::Library& library = knowledge.library();
  const catalog::Platform& platform = *result.opened->compiled->platform;
  diag::Sink sink;
  const auto checks = doctor::Checks::compile(platform, library, false, sink);
  doctor::Settings settings;
  settings.only_fatal = true;
  settings.repository = options.apply.repository;
  const blueprint::Blueprint& written = result.opened->blueprint;
  const doctor::Subject subject{{written.metadata, written.spec, result.derived->cluster,
                                 platform.catalog, result.loaded->facts},
                                result.directory};
  const secrets::RulesMask mask(knowledge.secret_rules());
  report.say("checks what must not fail (`--no-preflight` leaves that out)");
  std::optional<std::vector<doctor::Result>> results;
  if (checks != nullptr) {
    results = doctor::examine(*checks, live::Programs(platform, library), subject, settings, mask,
                              library.sources(), sink);
  }
  for (const doctor::Result& one : results.value_or(std::vector<doctor::Result>())) {
    for (const doctor::Finding& finding : one.findings) {
      if (finding.verdict != doctor::Verdict::fail) continue;
      diag::Diagnostic& fails = sink.error(install::kNotReady, diag::kNoOrigin,
                                           one.id + ", " + one.title + ": " + finding.evidence);
      if (!one.source.empty()) fails.note("source: " + one.source);
      if (!finding.remedy.empty()) fails.suggest(finding.remedy);
    }
  }
  report.show(sink, library.sources());
  return results.has_value() && !sink.has_errors();
}

int run_install(const InstallOptions& options, const GlobalOptions& global) {
  // Not before the blueprint: what is committed is for all to read.
  ::umask(kPrivateMask);
  // An installation goes on when its terminal goes.
  std::signal(SIGHUP, SIG_IGN);
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  Installation installation(options.apply, global, *knowledge, report, true);
  const std::unique_ptr<Result> first = installation.run(options.apply.inputs.facts, false);
  if (first == nullptr) return kFindings;
  global.result->set("cluster", first->cluster());
  const auto directory = place_of(options.directory, first->cluster(), report);
  if (!directory) return kFindings;
  diag::Sink sink;
  const auto fail = [&] {
    report.show(sink, diag::Sources());
    return kFindings;
  };
  auto place = install::Place::open(*directory, install::Place::Use::install, sink);
  if (!place) return fail();
  auto journal = install::Journal::open(*place, sink);
  if (!journal) return fail();
  if (options.dry_run && journal->story().cluster.empty()) {
    // Nothing is remembered of a rehearsal.
  } else if (!begin(*journal, *first, options, place->directory(), sink)) {
    return fail();
  }
  const std::unique_ptr<install::Driver> driver = installation.drive(*place, *journal);
  if (driver == nullptr) return kFindings;
  if (!knows_step(driver->step_names(), options.until, sink)) return fail();
  if (driver->step_names().empty()) {
    sink.error(install::kNothingToInstall, diag::kNoOrigin,
               "platform `" + first->opened->blueprint.platform->name + "` has no installation")
        .suggest("`gpuctl apply` commits the manifests; `install/` in the output says the rest");
    return fail();
  }
  global.result->set("directory", place->directory());
  if (options.dry_run) {
    const std::vector<std::string> lines = driver->rehearse(false);
    global.result->set("steps", texts(lines, global.result->arena()));
    return print(base::join(lines, "\n") + "\n", global) ? kOk : kFindings;
  }
  // Only before the first step: afterwards names are taken and addresses answer.
  if (!options.no_preflight && journal->story().attempt == 0 &&
      !is_ready(*first, options, *knowledge, report)) {
    return kFindings;
  }
  const bool good = driver->install(options.until);
  global.result->set("status", std::string_view(good ? "done" : "failed"));
  if (!good) return kFindings;
  report.say(options.until.empty()
                 ? first->cluster() + " is installed; `gpuctl status " + first->cluster() +
                       "` shows how it is"
                 : "done until " + options.until + "; the next `gpuctl install` goes on from here");
  return kOk;
}

RunFunction set_up_install(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<InstallOptions>();
  options->apply.add_to(command);
  command
      .add_option("--dir", options->directory,
                  "Private directory for the journal, the installer's files and the kubeconfig "
                  "(default: below ~/.local/state/gpuctl)")
      .type_name("DIR");
  command.add_option("--until", options->until, "Last step to take; the next run goes on after it")
      .type_name("STEP");
  command.add_flag("--no-preflight", options->no_preflight,
                   "Begin although `gpuctl doctor` was not asked about what must not fail");
  command.add_flag("--dry-run", options->dry_run, "Print the steps and their commands; do nothing");
  return [options, &global] {
    if (options->apply.inputs.blueprints.size() != 1) {
      throw UsageError("install: give one blueprint");
    }
    if (options->apply.inputs.blueprints.front() == "-") {
      throw UsageError("install: give a file: the next run reads it again");
    }
    return run_install(*options, global);
  };
}

}  // namespace

Command install_command() {
  return {"install", "Install a cluster: from its blueprint to GPUs that can be used",
          "Drives the platform's own installer, commits the manifests, hands the cluster to the "
          "GitOps\n"
          "controller, and waits until every pool offers its GPUs. Each step is remembered in a "
          "journal:\n"
          "run the same command again after a failure or an interruption, and it goes on. What an\n"
          "installer cannot continue is destroyed first, and begun anew.\n\n"
          "Example:\n"
          "  gpuctl install cluster.yaml --repo fleet --dry-run\n"
          "  gpuctl install cluster.yaml --repo git@git.example.com:fleet.git\n"
          "  gpuctl install cluster.yaml --repo fleet --until manifests\n",
          set_up_install};
}

}  // namespace gpuctl::cli
