#include "base/supervised.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace gpuctl::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SupervisedTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "gpuctl-run-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  Supervised start(const std::string& script) {
    Process process;
    process.program = "/bin/sh";
    process.arguments = {"-c", script};
    auto started = Supervised::start(process, root_ / "out");
    EXPECT_TRUE(std::holds_alternative<Supervised>(started));
    return std::get<Supervised>(std::move(started));
  }

  std::string said() const {
    std::ifstream in(root_ / "out");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path root_;
};

TEST_F(SupervisedTest, WritesBothStreamsAndTellsTheCode) {
  Supervised program = start("echo one; echo two >&2; exit 3");
  ASSERT_TRUE(program.wait(seconds(20)));
  EXPECT_EQ(program.ended().code, 3);
  EXPECT_EQ(said(), "one\ntwo\n");
  EXPECT_FALSE(lives(program.identity()));
}

TEST_F(SupervisedTest, SaysWhatCannotBeStarted) {
  Process process;
  process.program = root_ / "nothing";
  EXPECT_TRUE(std::holds_alternative<FileError>(Supervised::start(process, root_ / "out")));
}

TEST_F(SupervisedTest, EndsWhatIsLeftOfASession) {
  // A child in a group of its own that does not mind SIGTERM, and outlives its parent.
  Supervised program = start("set -m; (trap '' TERM; sleep 100) & sleep 100");
  EXPECT_FALSE(program.wait(milliseconds(200)));
  EXPECT_TRUE(lives(program.identity()));
  ::kill(program.identity().id, SIGKILL);
  ASSERT_TRUE(program.wait(seconds(20)));
  EXPECT_GE(end_leftovers(program.identity(), {}, milliseconds(100)), 1U);
  EXPECT_EQ(end_leftovers(program.identity(), {}, milliseconds(0)), 0U);
}

TEST_F(SupervisedTest, EndsWhatRunsFromADirectory) {
  std::filesystem::copy_file("/bin/sleep", root_ / "controller");
  Supervised program = start("setsid " + (root_ / "controller").string() + " 100");
  EXPECT_FALSE(program.wait(milliseconds(200)));
  EXPECT_EQ(end_leftovers({}, root_, seconds(10)), 1U);
  program.ask_to_end();
  EXPECT_TRUE(program.wait(seconds(20)));
}

TEST_F(SupervisedTest, TellsProcessesWithOneNumberApart) {
  Supervised program = start("sleep 100");
  ProcessIdentity other = program.identity();
  other.start += "0";
  EXPECT_FALSE(lives(other));
  EXPECT_EQ(end_leftovers(other, {}, milliseconds(0)), 0U);
  program.ask_to_end();
  EXPECT_TRUE(program.wait(seconds(20)));
}

}  // namespace
}  // namespace gpuctl::base
