// Keeps the configuration and environment of whoever runs the tests away from them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "../base/scratch.hpp"

// libgit2 1.5 does not free a regular expression when it refuses a repository's extensions. Nothing
// else uses this library, whose frames the sanitizer cannot unwind.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the name is the sanitizer's
  return "leak:libpcre2-8\n";
}

namespace gpuctl::git {
namespace {

class CleanHome : public testing::Environment {
 public:
  void SetUp() override {
    for (const char* name :
         {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL",
          "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
          "GIT_CONFIG_GLOBAL", "EMAIL", "XDG_CONFIG_HOME"}) {
      ::unsetenv(name);
    }
    ::setenv("HOME", home_.path().c_str(), 1);
    ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    ::setenv("LC_ALL", "C", 1);
  }

 private:
  test::Scratch home_;
};

[[maybe_unused]] const auto* const kCleanHome =
    testing::AddGlobalTestEnvironment(new CleanHome);  // NOLINT: GoogleTest owns it

}  // namespace
}  // namespace gpuctl::git
