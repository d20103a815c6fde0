#include "cli/command.hpp"
#include "pipeline/version.hpp"

namespace gpuctl::cli {

Command version_command() {
  return {"version", "Show the version of gpuctl and its catalogue", "Example:\n  gpuctl version\n",
          [](Options&, const GlobalOptions& global) {
            return [&global] {
              Report report(global);
              Knowledge* knowledge = open_knowledge(global, report);
              if (knowledge == nullptr) return kFindings;
              const std::string digest = knowledge->library().digest();
              global.result->set("version", pipeline::kVersion);
              global.result->set("catalog", digest);
              const std::string text =
                  "gpuctl " + std::string(pipeline::kVersion) + "\ncatalogue " + digest + "\n";
              return print(text, global) ? kOk : kFindings;
            };
          }};
}

}  // namespace gpuctl::cli
