#include "cli/command.hpp"
#include "cli/version.hpp"

namespace gpuctl::cli {

void add_version(CLI::App& app, const GlobalOptions& global, int& exit_code) {
  CLI::App* command = app.add_subcommand("version", "Show the version of gpuctl and its catalogue");
  command->footer("Example:\n  gpuctl version\n");
  command->callback([&global, &exit_code] {
    diag::Sink sink;
    Knowledge& knowledge = open_knowledge(global, sink);
    const std::string digest = knowledge.library().digest();
    exit_code =
        print("gpuctl " + std::string(kVersion) + "\ncatalogue " + digest + "\n") ? kOk : kFindings;
  });
}

}  // namespace gpuctl::cli
