#include <memory>

#include "cli/apply_run.hpp"
#include "cli/codes.hpp"

namespace gpuctl::cli {

namespace {

// Clusters go their ways at their own pace.
int run_hop(const ApplyOptions& options, const GlobalOptions& global) {
  if (options.inputs.blueprints.size() == 1) return run_apply(options, global);
  global.result->set("status", std::string_view("failed"));
  global.result->set_flag("dryRun", options.dry_run);
  Report report(global);
  diag::Sink sink;
  sink.error(kUsage, diag::kNoOrigin, "`--to` takes one blueprint")
      .got(counted(options.inputs.blueprints.size(), "blueprint"))
      .suggest("run it for each cluster: the next commit of one may wait while others go on");
  report.show(sink, diag::Sources());
  return kUsageError;
}

}  // namespace

Command upgrade_command() {
  return {
      "upgrade", "Choose again what was chosen earlier, and commit the result",
      "Releases, channels, zones and the like that the blueprint leaves open are chosen once and\n"
      "kept in `gpuctl.lock`, also by a newer gpuctl. This command moves them to what would be\n"
      "chosen today. What was recorded to compare with, such as how a cluster was built, stays.\n\n"
      "With --to it goes towards a version of the cluster instead, in order: --dry-run lists the\n"
      "commits on the way, and without it the next one is made. The blueprint is never edited; "
      "the\n"
      "last line says what to write into it.\n\n"
      "Example:\n"
      "  gpuctl upgrade cluster.yaml --repo fleet --dry-run\n"
      "  gpuctl upgrade clusters/*.yaml --repo fleet --only gpuOperator.release\n"
      "  gpuctl upgrade cluster.yaml --repo fleet --to 4.22 --dry-run\n",
      [](Options& command, const GlobalOptions& global) {
        auto options = std::make_shared<ApplyOptions>();
        options->add_to(command);
        command
            .add_option("--only", options->choose_again,
                        "Only this choice of `gpuctl.lock`, or all below it; may be repeated")
            .type_name("CHOICE");
        command.add_flag(
            "--dry-run", options->dry_run,
            "Say which choices and files would change and what that does; commit nothing");
        command
            .add_option(
                "--to", options->to,
                "Go towards this version of the cluster: list the commits, or make the next")
            .type_name("VERSION")
            .excludes("--only");
        return [options, &global] {
          if (!options->to.empty()) return run_hop(*options, global);
          if (options->choose_again.empty()) options->choose_again = {""};
          return run_apply(*options, global);
        };
      }};
}

}  // namespace gpuctl::cli
