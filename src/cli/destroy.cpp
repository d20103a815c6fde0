#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>

#include "cli/installation.hpp"
#include "install/codes.hpp"

namespace gpuctl::cli {

namespace {

constexpr mode_t kPrivate = 077;

struct DestroyOptions {
  InstalledOptions installed;
  std::string yes;
  bool dry_run = false;
};

// The name is typed, on the command line or here.
bool is_confirmed(const DestroyOptions& options, const std::string& cluster, diag::Sink& sink) {
  const std::string name = cluster.substr(cluster.find('/') + 1);
  std::string typed = options.yes;
  if (typed.empty() && ::isatty(STDIN_FILENO) == 1) {
    std::cerr << "Type the name of the cluster to destroy it: ";
    std::getline(std::cin, typed);
  }
  if (typed == name || typed == cluster) return true;
  sink.error(install::kNotConfirmed, diag::kNoOrigin,
             typed.empty() ? "nothing confirms that `" + cluster + "` is to be destroyed"
                           : "`" + shown(typed) + "` is not the name of the cluster")
      .note("nothing was changed")
      .suggest("`gpuctl destroy " + cluster + " --yes " + name + "`");
  return false;
}

int run_destroy(DestroyOptions& options, const GlobalOptions& global) {
  ::umask(kPrivate);
  std::signal(SIGHUP, SIG_IGN);
  Report report(global);
  const auto directory = options.installed.place(report);
  if (!directory) return kFindings;
  diag::Sink sink;
  const auto fail = [&] {
    report.show(sink, diag::Sources());
    return kFindings;
  };
  auto place = install::Place::open(*directory, install::Place::Use::change, sink);
  if (!place) return fail();
  auto journal = install::Journal::open(*place, sink);
  if (!journal) return fail();
  const std::string cluster = journal->story().cluster;
  const std::string& name = options.installed.name;
  global.result->set("cluster", cluster);
  if (name != cluster && !cluster.ends_with("/" + name)) {
    sink.error(install::kOtherCluster, diag::kNoOrigin,
               "the journal in `" + place->directory() + "` is of cluster `" + cluster +
                   "`, not of `" + shown(name) + "`");
    return fail();
  }
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  options.installed.complete(journal->story());
  Installation installation(options.installed.apply, global, *knowledge, report, false);
  const std::unique_ptr<install::Driver> driver = installation.drive(*place, *journal);
  if (driver == nullptr) return kFindings;
  const std::vector<std::string> lines = driver->rehearse(true);
  global.result->set("steps", texts(lines, global.result->arena()));
  if (options.dry_run) return print(base::join(lines, "\n") + "\n", global) ? kOk : kFindings;
  report.say(cluster + " will be destroyed, with all that is in it:");
  for (const std::string& line : lines) report.say("  " + line);
  const std::vector<std::string> stake = driver->at_stake();
  report.say(stake.empty() ? "Nothing that workloads made keeps it."
                           : "What workloads made goes with it:");
  for (const std::string& line : stake) report.say("  " + line);
  if (!is_confirmed(options, cluster, sink)) return fail();
  const std::vector<std::string> leftovers = driver->leftovers();
  if (!driver->destroy()) return kFindings;
  global.result->set("leftovers", texts(leftovers, global.result->arena()));
  report.say(cluster + " is gone; its directory `" + place->directory() + "` is kept");
  if (!leftovers.empty()) report.say("To see that nothing is left that costs money:");
  for (const std::string& line : leftovers) report.say("  " + line);
  return kOk;
}

RunFunction set_up_destroy(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<DestroyOptions>();
  options->installed.add_to(command);
  command.add_option("--yes", options->yes, "Its name once more, instead of a question")
      .type_name("CLUSTER");
  command.add_flag("--dry-run", options->dry_run, "Print the steps and their commands; do nothing");
  return [options, &global] { return run_destroy(*options, global); };
}

}  // namespace

Command destroy_command() {
  return {
      "destroy", "Destroy a cluster that `install` made",
      "Load balancers and volumes that workloads made go first; then the platform's own installer\n"
      "takes away what it made, by what the journal knows. It is watched: one that says nothing "
      "new\n"
      "for long is ended. Run it again to go on.\n\n"
      "Example:\n"
      "  gpuctl destroy gpu-lab --dry-run\n"
      "  gpuctl destroy gpu-lab --yes gpu-lab\n",
      set_up_destroy};
}

}  // namespace gpuctl::cli
