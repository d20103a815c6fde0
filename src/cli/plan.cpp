#include <memory>

#include "cli/apply_run.hpp"

namespace gpuctl::cli {

Command plan_command() {
  return {
      "plan", "Say what blueprints would change in Git, and what that does to running clusters",
      "Compares with what the repository holds, field by field, and says of each change which\n"
      "machines, nodes and workloads it disturbs, the worst first. Nothing is committed and no\n"
      "cluster is asked: counts are those in Git.\n\n"
      "Classes of effects, mildest first: none, install-only, metadata, new-machines, operands,\n"
      "gpu-pods, drain, node-reboot, node-recreate, machines-deleted, pool-recreate, upgrade;\n"
      "besides them refused and unknown, which no limit covers. See docs/effects.md.\n\n"
      "Exit code: 0; 1 when something is wrong or exceeds the limit; with --detailed-exitcode 2\n"
      "when there are changes.\n\n"
      "Example:\n"
      "  gpuctl plan cluster.yaml --repo fleet\n"
      "  gpuctl plan clusters/*.yaml --repo fleet -o markdown --max-effect operands\n"
      "  gpuctl plan cluster.yaml --repo fleet --cost --hours 200\n",
      [](Options& command, const GlobalOptions& global) {
        auto options = std::make_shared<ApplyOptions>();
        options->dry_run = true;
        options->add_to(command);
        command
            .add_option("-o,--output", options->output,
                        "Form: text, json (one document), markdown (a comment of a pull request)")
            .one_of({"text", "json", "markdown"})
            .capture_default_str();
        command.add_flag("--detailed-exitcode", options->detailed_exit_code,
                         "Exit with 2 when there are changes");
        command.add_flag("--cost", options->priced,
                         "Say what the change does to what machines cost a month");
        options->costs.add_to(command);
        return [options, &global] { return run_apply(*options, global); };
      }};
}

}  // namespace gpuctl::cli
