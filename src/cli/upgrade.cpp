#include <memory>

#include "cli/apply_run.hpp"

namespace gpuctl::cli {

Command upgrade_command() {
  return {
      "upgrade", "Choose again what was chosen earlier, and commit the result",
      "Releases, channels, zones and the like that the blueprint leaves open are chosen once and\n"
      "kept in `gpuctl.lock`, also by a newer gpuctl. This command moves them to what would be\n"
      "chosen today. What was recorded to compare with, such as how a cluster was built, stays.\n\n"
      "Example:\n"
      "  gpuctl upgrade cluster.yaml --repo fleet --dry-run\n"
      "  gpuctl upgrade clusters/*.yaml --repo fleet --only gpuOperator.release\n",
      [](CLI::App& command, const GlobalOptions& global) {
        auto options = std::make_shared<ApplyOptions>();
        options->add_to(command);
        command
            .add_option("--only", options->choose_again,
                        "Only this choice of `gpuctl.lock`, or all below it; may be repeated")
            ->type_name("CHOICE");
        command.add_flag(
            "--dry-run", options->dry_run,
            "Say which choices and files would change and what that does; commit nothing");
        return [options, &global] {
          if (options->choose_again.empty()) options->choose_again = {""};
          return run_apply(*options, global);
        };
      }};
}

}  // namespace gpuctl::cli
