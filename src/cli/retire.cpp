#include <memory>

#include "cli/apply_run.hpp"

namespace gpuctl::cli {

Command retire_command() {
  return {
      "retire", "Drop names of configurations that no node goes by any more, and commit the result",
      "Labels of machines name configurations of MIG and of the device plugin. A machine keeps "
      "the\n"
      "labels that it was made with, so what an earlier commit named stays in the output: a "
      "device\n"
      "plugin whose configuration is gone never offers its GPUs again. `names` in `gpuctl.lock`\n"
      "lists them. Retire one when no machine carries it:\n"
      "  oc get machines -A -o custom-columns=NAME:.metadata.name,LABELS:.spec.metadata.labels\n"
      "The fact `usedNames` does the same for all names at once.\n\n"
      "Example:\n"
      "  gpuctl retire custom-inference cluster.yaml --repo fleet\n"
      "  gpuctl retire training.shared cluster.yaml --repo fleet --dry-run\n",
      [](Options& command, const GlobalOptions& global) {
        auto options = std::make_shared<ApplyOptions>();
        options->retired.resize(1);
        command.add_option("NAME", options->retired.front(), "The name, as the lock has it")
            .required();
        options->add_to(command);
        command.add_flag("--dry-run", options->dry_run,
                         "Say what would change and what that does; commit nothing");
        return [options, &global] { return run_apply(*options, global); };
      }};
}

}  // namespace gpuctl::cli
