// Manifests that exist, as a blueprint.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importer/draft.hpp"

namespace gpuctl::importer {

struct Question {
  std::vector<std::string> paths;  // files and directories with manifests of one cluster
  std::string platform;            // empty: the one whose documents these are
  /// Releases that the user names, by option; empty: what fits best.
  std::map<std::string, std::string> releases;
  std::string directory;  // of the files to be written: "" or with a slash at its end
  std::string date;       // that rules go by, "2031-12-31"
};

/// Reads, proposes, renders and compares, and says what came of every manifest. Nothing after an
/// error: nothing to read, no platform (GPU0634).
std::optional<Draft> propose(const Question& question, pipeline::Knowledge& knowledge,
                             yaml::Context context);

/// How many objects come back in this way.
std::size_t count_of(const Draft& draft, Fate fate);

/// "12 documents: 10 as rendered, 2 only read".
std::string counts(const Draft& draft);

}  // namespace gpuctl::importer
