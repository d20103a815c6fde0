#include "cli/samples.hpp"

#include "cli/command.hpp"

namespace gpuctl::cli {

std::vector<std::string> sample_names() {
  constexpr std::string_view kYaml = ".yaml";
  std::vector<std::string> out;
  for (const diag::FileView& file : built_in_image().files()) {
    if (!file.name.starts_with(kSamples)) continue;
    out.emplace_back(
        file.name.substr(kSamples.size(), file.name.size() - kSamples.size() - kYaml.size()));
  }
  return out;
}

}  // namespace gpuctl::cli
