#include "cli/command.hpp"
#include "pipeline/version.hpp"

namespace gpuctl::cli {

void add_version(CLI::App& app, const GlobalOptions& global, int& exit_code) {
  CLI::App* command = app.add_subcommand("version", "Show the version of gpuctl and its catalogue");
  command->footer("Example:\n  gpuctl version\n");
  command->callback([&global, &exit_code] {
    Report report(global);
    exit_code = kFindings;
    Knowledge* knowledge = open_knowledge(global, report);
    if (knowledge == nullptr) return;
    const std::string digest = knowledge->library().digest();
    const std::string text =
        "gpuctl " + std::string(pipeline::kVersion) + "\ncatalogue " + digest + "\n";
    if (print(text, global)) exit_code = kOk;
  });
}

}  // namespace gpuctl::cli
