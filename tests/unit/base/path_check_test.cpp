#include "base/path_check.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gpuctl::base {
namespace {

TEST(PathCheck, TakesOrdinaryPaths) {
  for (const std::string path :
       {"a", "clusters/prod/ml/layers/40-gpu/pool.yaml", ".github/x", ".gitignore", "git", "...x",
        "-rf", "a b", "a..b", "d\xC3\xA9j\xC3\xA0.yaml", "xgit~1", ".gitx"}) {
    EXPECT_EQ(unsafe_path_reason(path), "") << path;
  }
  EXPECT_EQ(unsafe_path_reason(std::string(255, 'x')), "");
  std::string deep = "x";
  for (std::size_t i = 1; i < kMostPathComponents; ++i) deep += "/x";
  EXPECT_EQ(unsafe_path_reason(deep), "");
  EXPECT_EQ(unsafe_path_reason(deep + "/x"), "is over 64 components deep");
}

TEST(PathCheck, RefusesDangerousPaths) {
  const std::vector<std::string> paths = {"",
                                          "/",
                                          "/etc/passwd",
                                          "..",
                                          "a/..",
                                          "../a",
                                          "a/../b",
                                          ".",
                                          "./a",
                                          "a/.",
                                          "a//b",
                                          "a/",
                                          ".git",
                                          ".GIT/x",
                                          "a/.Git/b",
                                          "git~1",
                                          "GIT~1/hooks",
                                          ".git.",
                                          ".git ",
                                          ".git. . ",
                                          ".git:x",
                                          "a\\b",
                                          ".git\\hooks",
                                          "a\nb",
                                          "a\tb",
                                          "a\x7F",
                                          "a\x01/b",
                                          "x.",
                                          "x /y",
                                          "\xC3",
                                          "\xFF",
                                          "a\xC2\x85",
                                          ".g\xE2\x80\x8Cit/x",
                                          std::string("a\xE2\x80\xAE") + "b",
                                          ".git::$INDEX_ALLOCATION/hooks",
                                          std::string("a\0b", 3),
                                          std::string(256, 'x'),
                                          "a/" + std::string(256, 'x') + "/b"};
  for (const std::string& path : paths) EXPECT_NE(unsafe_path_reason(path), "") << path;
  std::string deep;
  while (deep.size() <= kMostPathBytes) deep += "dir/";
  EXPECT_NE(unsafe_path_reason(deep + "f"), "");
}

}  // namespace
}  // namespace gpuctl::base
