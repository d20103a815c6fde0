#include "git/patch.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpuctl::git {
namespace {

// git cuts the text behind `@@` after 80 bytes, and takes blanks from its end.
TEST(Patch, HeadsHunksWithoutBlanksAtTheEnd) {
  const std::string heading = std::string(79, 'x') + " yz\n";
  std::string before = heading;
  for (int i = 0; i < 8; ++i) before += "- " + std::to_string(i) + " \n";
  const std::string made = patch("file", before, before + "- more \n");
  EXPECT_NE(made.find("@@ " + std::string(79, 'x') + "\n"), std::string::npos) << made;
  EXPECT_NE(made.find("+- more \n"), std::string::npos) << made;
}

}  // namespace
}  // namespace gpuctl::git
