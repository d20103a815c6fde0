#include "base/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/file.hpp"
#include "scratch.hpp"

namespace gpuctl::base {
namespace {

using namespace std::chrono_literals;
using test::get;
using test::put;
using test::Scratch;
using Clock = std::chrono::steady_clock;

// A script is a program like any other; nothing of it passes through us.
Process script(const Scratch& scratch, const std::string& text) {
  const std::string path = scratch / "program";
  put(path, "#!/bin/sh\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  Process process;
  process.program = path;
  process.deadline = Clock::now() + 20s;
  return process;
}

bool soon(const std::function<bool()>& holds) {
  for (int i = 0; i < 500; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

bool alive(const std::string& id) {
  const std::string state = get("/proc/" + id + "/stat");
  return !state.empty() && state.find(") Z ") == std::string::npos;
}

TEST(FindProgram, TakesAbsoluteDirectoriesOnly) {
  EXPECT_EQ(find_program("no-such-program"), "");
  EXPECT_EQ(find_program("sh").substr(0, 1), "/");
}

TEST(RunProcess, GivesOutputErrorsAndCode) {
  const Scratch scratch;
  Process process = script(scratch, "printf '%s|' \"$@\"; echo no >&2; exit 3");
  process.arguments = {"a b", "", "$(touch x)", "--", "'"};
  const Ended ended = run_process(process);
  EXPECT_EQ(ended.how, Ended::How::exited);
  EXPECT_EQ(ended.code, 3);
  EXPECT_FALSE(ended.good());
  EXPECT_EQ(ended.output, "a b||$(touch x)|--|'|");
  EXPECT_EQ(ended.errors, "no\n");
}

TEST(RunProcess, ChangesTheEnvironment) {
  const Scratch scratch;
  ::setenv("GPUCTL_TEST_GONE", "x", 1);
  ::setenv("GPUCTL_TEST_STAYS", "y", 1);
  Process process =
      script(scratch, "echo \"${GPUCTL_TEST_GONE-gone} $GPUCTL_TEST_STAYS $GPUCTL_TEST_NEW\"");
  process.environment = {{"GPUCTL_TEST_GONE", std::nullopt}, {"GPUCTL_TEST_NEW", "a=b c"}};
  EXPECT_EQ(run_process(process).output, "gone y a=b c\n");
}

TEST(RunProcess, HasNoInputTerminalOrFilesOfOurs) {
  const Scratch scratch;
  const FileDescriptor leaked(::open("/dev/null", O_RDONLY));  // NOLINT: not CLOEXEC on purpose
  Process process =
      script(scratch, "cat; (: </dev/tty) 2>/dev/null && echo tty; [ -e /proc/self/fd/" +
                          std::to_string(leaked.get()) + " ] && echo open; trap | cat; exit 0");
  const Ended ended = run_process(process);
  EXPECT_TRUE(ended.good());
  EXPECT_EQ(ended.output, "");
}

TEST(RunProcess, SaysWhyNothingStarted) {
  const Scratch scratch;
  Process process;
  process.program = scratch / "absent";
  Ended ended = run_process(process);
  EXPECT_EQ(ended.how, Ended::How::not_started);
  EXPECT_EQ(ended.code, ENOENT);
  put(scratch / "text", "no program");
  process.program = scratch / "text";
  ended = run_process(process);
  EXPECT_EQ(ended.how, Ended::How::not_started);
  EXPECT_EQ(ended.code, EACCES);
}

TEST(RunProcess, KeepsNoMoreThanItMay) {
  const Scratch scratch;
  Process process = script(scratch, "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2");
  process.most_bytes = 1000;
  const Ended ended = run_process(process);
  EXPECT_TRUE(ended.good());
  EXPECT_EQ(ended.output.size(), 1000U);
  EXPECT_EQ(ended.errors.size(), 1000U);
}

TEST(RunProcess, EndsTheWholeGroupAtTheDeadline) {
  const Scratch scratch;
  Process process = script(scratch, "sleep 60 & echo $!; exec sleep 60");
  process.deadline = Clock::now() + 300ms;
  const auto started = Clock::now();
  const Ended ended = run_process(process);
  EXPECT_EQ(ended.how, Ended::How::late);
  EXPECT_LT(Clock::now() - started, 2s);
  const std::string id = ended.output.substr(0, ended.output.find('\n'));
  ASSERT_FALSE(id.empty());
  EXPECT_TRUE(soon([&] { return !alive(id); }));
}

TEST(RunProcess, EndsEvenWhoDoesNotListen) {
  const Scratch scratch;
  Process process = script(scratch, "trap '' TERM; while :; do sleep 1; done");
  process.deadline = Clock::now() + 200ms;
  const auto started = Clock::now();
  EXPECT_EQ(run_process(process).how, Ended::How::late);
  EXPECT_LT(Clock::now() - started, 4s);
}

TEST(RunProcess, DoesNotWaitForWhatStaysInTheBackground) {
  const Scratch scratch;
  Process process = script(scratch, "sleep 30 & echo done");
  const auto started = Clock::now();
  const Ended ended = run_process(process);
  EXPECT_TRUE(ended.good());
  EXPECT_EQ(ended.output, "done\n");
  EXPECT_LT(Clock::now() - started, 5s);
}

TEST(RunProcess, TellsASignalFromACode) {
  const Scratch scratch;
  const Ended ended = run_process(script(scratch, "kill -9 $$"));
  EXPECT_EQ(ended.how, Ended::How::signalled);
  EXPECT_EQ(ended.code, SIGKILL);
}

// Runs a waiting program in a process of its own and sends that a signal; what was started has to
// end with it.
void expect_to_end_together(int signal) {
  const Scratch scratch;
  Process process = script(scratch, "echo $$ >\"$1\"; mv \"$1\" \"$2\"; exec sleep 60");
  process.arguments = {scratch / "new", scratch / "id"};
  const pid_t child = ::fork();
  if (child == 0) {
    run_process(process);
    ::_exit(0);
  }
  ASSERT_TRUE(soon([&] { return std::filesystem::exists(scratch / "id"); }));
  std::string id = get(scratch / "id");
  id.pop_back();
  ASSERT_TRUE(alive(id));
  ::kill(child, signal);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), signal);
  EXPECT_TRUE(soon([&] { return !alive(id); }));
}

TEST(RunProcess, PassesSignalsOn) {
  expect_to_end_together(SIGTERM);
  expect_to_end_together(SIGINT);
}

TEST(RunProcess, LeavesNothingRunningWhenWeAreKilled) {
  expect_to_end_together(SIGKILL);
}

}  // namespace
}  // namespace gpuctl::base
