#include <memory>

#include "cli/apply_run.hpp"

namespace gpuctl::cli {

Command diff_command() {
  return {"diff", "Show how blueprints would change the files in Git",
          "A patch of all files that `apply` would write, which `git apply` takes. What the "
          "changes do\n"
          "to running clusters, `gpuctl plan` says. Nothing is committed.\n\n"
          "Exit code: 0; 1 when something is wrong; with --detailed-exitcode 2 when there are "
          "changes.\n"
          "\n"
          "Example:\n"
          "  gpuctl diff cluster.yaml --repo fleet\n"
          "  gpuctl diff clusters/*.yaml --repo fleet | less\n",
          [](Options& command, const GlobalOptions& global) {
            auto options = std::make_shared<ApplyOptions>();
            options->dry_run = true;
            options->output = "diff";
            options->add_to(command);
            command.add_flag("--detailed-exitcode", options->detailed_exit_code,
                             "Exit with 2 when there are changes");
            return [options, &global] { return run_apply(*options, global); };
          }};
}

}  // namespace gpuctl::cli
