// Each signature of the built-in knowledge knows a line of those who print it (lines.txt), and no
// other that belongs to the same links and comes before it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "cli/command.hpp"
#include "pipeline/knowledge.hpp"
#include "signature/signatures.hpp"

namespace gpuctl::diagnose {
namespace {

TEST(SignatureLines, EachIsKnown) {
  diag::Sink sink;
  pipeline::Knowledge knowledge(cli::built_in_image(), "", "", sink);
  const std::vector<std::string> folders = catalog::provider_folders(knowledge.library());
  const signature::Signatures signatures(folders, knowledge.library(), signature::Use::diagnosis);
  std::map<std::string, std::string> lines;
  std::ifstream in(std::string(GPUCTL_SOURCE_DIR) + "/tests/diagnose/lines.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t blank = line.find(' ');
    EXPECT_TRUE(lines.emplace(line.substr(0, blank), line.substr(blank + 1)).second) << line;
  }
  EXPECT_GE(signatures.all().size(), 60U);
  for (const signature::Signature& one : signatures.all()) {
    const auto line = lines.find(one.name);
    ASSERT_NE(line, lines.end()) << one.name << " has no line";
    bool found = false;
    for (const signature::Signature* match : signatures.matches(line->second).found) {
      found = found || match->name == one.name;
      const bool rival = !match->weak || one.weak;
      for (const std::string& link : one.of) {
        if (found || !rival) break;
        EXPECT_FALSE(match->is_of(link))
            << match->name << " comes before " << one.name << ": " << line->second;
      }
    }
    EXPECT_TRUE(found) << one.name << " does not know " << line->second;
    lines.erase(line);
  }
  for (const auto& [name, line] : lines) ADD_FAILURE() << "there is no signature " << name;
}

}  // namespace
}  // namespace gpuctl::diagnose
