#include <memory>

#include "cli/apply_run.hpp"

namespace gpuctl::cli {

Command apply_command() {
  return {
      "apply", "Commit the manifests of blueprints to Git",
      "All clusters go into one commit. When nothing changes, no commit is made. The branch moves\n"
      "only if it is still where the plan was made; otherwise the plan is made again.\n\n"
      "A branch to be merged (--branch, but not one that HEAD or a blueprint's gitops.branch "
      "names)\n"
      "is planned anew on its base: it has one commit on the newest head. What others did on it\n"
      "stays, and the commit goes on top.\n\n"
      "An address is fetched into a copy below ~/.cache/gpuctl, and the commit is pushed with a\n"
      "lease. The git program does that: your ssh configuration, known hosts, credential helpers\n"
      "and proxies hold, and nothing asks on the terminal. Passwords do not belong in "
      "addresses.\n\n"
      "Example:\n"
      "  gpuctl apply cluster.yaml --repo fleet\n"
      "  gpuctl apply clusters/*.yaml --repo fleet --branch gpu-pools --message \"More GPUs\"\n"
      "  gpuctl apply cluster.yaml --repo git@git.example.com:fleet.git --branch gpu-pools\n",
      [](Options& command, const GlobalOptions& global) {
        auto options = std::make_shared<ApplyOptions>();
        options->add_to(command);
        command.add_flag("--full", options->full,
                         "Render every cluster, also those whose inputs and files are as the "
                         "last run left them");
        command.add_flag(
            "--dry-run", options->dry_run,
            "Say what would change and what that does, as `gpuctl plan`; commit nothing");
        return [options, &global] { return run_apply(*options, global); };
      }};
}

}  // namespace gpuctl::cli
