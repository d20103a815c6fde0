// A repository in a directory of its own, and the `git` program to look at it from outside.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "../base/scratch.hpp"
#include "git/codes.hpp"
#include "git/repository.hpp"

namespace gpuctl::git {

struct Ran {
  int code = -1;
  std::string output;  // stdout and stderr
};

/// Runs a program with an argument vector.
inline Ran run(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    std::vector<char*> raw;
    for (const std::string& argument : arguments)
      raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    ::execvp(raw[0], raw.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  Ran result;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while ((count = ::read(ends[0], buffer.data(), buffer.size())) > 0) {
    result.output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

inline bool have_git() {
  static const bool found = run({"git", "--version"}).code == 0;
  return found;
}

inline std::string codes(const diag::Sink& sink) {
  std::string text;
  for (const diag::Diagnostic& diagnostic : sink.all()) {
    text += diagnostic.code + " " + diagnostic.message + "\n";
    for (const std::string& note : diagnostic.notes) text += "  note: " + note + "\n";
  }
  return text;
}

inline bool has(const diag::Sink& sink, std::string_view code, std::string_view part = "") {
  for (const diag::Diagnostic& diagnostic : sink.all()) {
    std::string all = diagnostic.message;
    for (const std::string& note : diagnostic.notes) all += "\n" + note;
    for (const std::string& help : diagnostic.help) all += "\n" + help;
    if (diagnostic.code == code && all.find(part) != std::string::npos) return true;
  }
  return false;
}

class GitTest : public testing::Test {
 protected:
  /// A fresh repository "repo" (or "repo.git", bare) on branch main.
  Repository make(const std::string& name = "repo") {
    bool created = false;
    diag::Sink sink;
    auto repository = Repository::open_or_create(scratch_ / name, "main", created, sink);
    EXPECT_TRUE(repository.has_value()) << codes(sink);
    EXPECT_TRUE(created);
    repository->set_lock_wait(std::chrono::milliseconds(100));
    return std::move(*repository);
  }

  /// Commits to main on its present tip; fails the test when that does not work out.
  std::string commit(Repository& repository, std::vector<Change> changes,
                     CommitStatus expected = CommitStatus::committed) {
    diag::Sink sink;
    const std::string tip = repository.tip("main", sink);
    const CommitResult result =
        repository.commit({"main", tip, "Change\n\nBody.\n", std::move(changes)}, sink);
    EXPECT_EQ(static_cast<int>(result.status), static_cast<int>(expected)) << codes(sink);
    EXPECT_TRUE(sink.empty()) << codes(sink);
    return result.id;
  }

  /// The `git` program in the repository.
  Ran git(std::vector<std::string> arguments, const std::string& name = "repo") {
    std::vector<std::string> all = {"git", "-C", scratch_ / name};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run(all);
  }

  void expect_sound(const std::string& name = "repo") {
    if (!have_git()) return;
    const Ran checked = git({"fsck", "--full", "--strict", "--no-dangling"}, name);
    EXPECT_EQ(checked.code, 0) << checked.output;
    EXPECT_EQ(checked.output.find("error"), std::string::npos) << checked.output;
  }

  test::Scratch scratch_;
};

using Files = std::map<std::string, std::string>;

class CommitTest : public GitTest {
 protected:
  /// Path -> content of everything in a commit.
  Files content(const Repository& repository, const std::string& id) {
    diag::Sink sink;
    Files files;
    for (const auto& [path, blob] : repository.list(id, "", sink)) {
      const auto text = repository.read(id, path, sink);
      EXPECT_TRUE(text.has_value()) << path;
      EXPECT_EQ(Repository::blob_id(text.value_or("")), blob);
      files[path] = text.value_or("");
    }
    EXPECT_TRUE(sink.empty()) << codes(sink);
    return files;
  }

  /// A commit that must fail; gives the diagnostics.
  diag::Sink refused(Repository& repository, std::vector<Change> changes) {
    diag::Sink sink;
    const std::string tip = repository.tip("main", sink);
    const CommitResult result = repository.commit({"main", tip, "No", std::move(changes)}, sink);
    EXPECT_EQ(static_cast<int>(result.status), static_cast<int>(CommitStatus::failed));
    EXPECT_TRUE(sink.has_errors());
    EXPECT_EQ(repository.tip("main", sink), tip);
    return sink;
  }
};

}  // namespace gpuctl::git
