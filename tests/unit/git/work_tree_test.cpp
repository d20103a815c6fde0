#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "fixture.hpp"

namespace gpuctl::git {
namespace {

namespace fs = std::filesystem;
using test::get;
using test::put;

class WorkTreeTest : public GitTest {
 protected:
  void SetUp() override {
    if (!have_git()) GTEST_SKIP() << "no git";
  }

  /// Commits and gives the diagnostics.
  diag::Sink commit_with_warnings(Repository& repository, std::vector<Change> changes) {
    diag::Sink sink;
    const CommitResult result = repository.commit(
        {"main", repository.tip("main", sink), "Change", std::move(changes)}, sink);
    EXPECT_EQ(static_cast<int>(result.status), static_cast<int>(CommitStatus::committed))
        << codes(sink);
    EXPECT_FALSE(sink.has_errors()) << codes(sink);
    return sink;
  }
  std::string status() { return git({"status", "--porcelain", "-uall"}).output; }
  std::string at(const std::string& path) { return scratch_ / ("repo/" + path); }
};

TEST_F(WorkTreeTest, FollowsTheBranch) {
  Repository repository = make();
  commit(repository, {{"a/b/c", "1\n"}, {"a/d", "2\n"}, {"e", "3\n"}});
  EXPECT_EQ(status(), "");
  EXPECT_EQ(get(at("a/b/c")), "1\n");
  commit(repository, {{"a/b/c", std::nullopt}, {"a/d", "22\n"}, {"f/g", "4\n"}});
  EXPECT_EQ(status(), "");
  EXPECT_FALSE(fs::exists(at("a/b")));
  EXPECT_EQ(get(at("a/d")), "22\n");
  EXPECT_EQ(get(at("f/g")), "4\n");
  commit(repository, {{"e", std::nullopt}, {"e/x", "5\n"}, {"f/g", std::nullopt}, {"f", "6\n"}});
  EXPECT_EQ(status(), "");
  EXPECT_EQ(get(at("e/x")), "5\n");
  EXPECT_EQ(get(at("f")), "6\n");
  expect_sound();
}

TEST_F(WorkTreeTest, ManyFilesAreCheckedOut) {
  Repository repository = make();
  std::vector<Change> changes;
  for (int i = 0; i < 500; ++i) {
    changes.push_back({"d" + std::to_string(i % 7) + "/f" + std::to_string(i), std::to_string(i)});
  }
  commit(repository, changes);
  EXPECT_EQ(status(), "");
  EXPECT_EQ(get(at("d3/f17")), "17");
}

TEST_F(WorkTreeTest, KeepsWhatTheUserChanged) {
  Repository repository = make();
  commit(repository, {{"changed", "1\n"},
                      {"staged", "1\n"},
                      {"gone", "1\n"},
                      {"clean", "1\n"},
                      {"deleted", "1\n"}});
  put(at("changed"), "mine\n");
  put(at("staged"), "mine\n");
  ASSERT_EQ(git({"add", "staged"}).code, 0);
  fs::remove(at("gone"));
  put(at("new"), "mine\n");
  put(at("deleted"), "mine\n");
  const diag::Sink sink = commit_with_warnings(repository, {{"changed", "2\n"},
                                                            {"staged", "2\n"},
                                                            {"gone", "2\n"},
                                                            {"clean", "2\n"},
                                                            {"new", "2\n"},
                                                            {"deleted", std::nullopt}});
  EXPECT_EQ(sink.all().size(), 1U);
  for (const char* name : {"`changed`", "`staged`", "`gone`", "`new`", "`deleted`"}) {
    EXPECT_TRUE(has(sink, kWorkTreeNotUpdated, name)) << name << codes(sink);
  }
  EXPECT_FALSE(has(sink, kWorkTreeNotUpdated, "`clean`"));
  EXPECT_TRUE(has(sink, kWorkTreeNotUpdated, "git restore"));
  EXPECT_EQ(get(at("changed")), "mine\n");
  EXPECT_EQ(get(at("staged")), "mine\n");
  EXPECT_EQ(get(at("new")), "mine\n");
  EXPECT_EQ(get(at("deleted")), "mine\n");
  EXPECT_FALSE(fs::exists(at("gone")));
  EXPECT_EQ(get(at("clean")), "2\n");
  // No staged change undoes our commit; only what the user staged is staged.
  EXPECT_EQ(git({"diff", "--cached", "--name-only"}).output, "staged\n");
  EXPECT_EQ(status(), " M changed\n D gone\n M new\nM  staged\n?? deleted\n");
  ASSERT_EQ(git({"restore", "--source=HEAD", "--staged", "--worktree", "."}).code, 0);
  EXPECT_EQ(get(at("staged")), "2\n");
}

TEST_F(WorkTreeTest, UnrelatedDirtMattersNot) {
  Repository repository = make();
  commit(repository, {{"a", "1\n"}, {"b", "1\n"}});
  put(at("b"), "mine\n");
  put(at("untracked/x"), "mine\n");
  commit(repository, {{"a", "2\n"}, {"untracked/y", "2\n"}});
  EXPECT_EQ(status(), " M b\n?? untracked/x\n");
}

TEST_F(WorkTreeTest, AFileThatIsAlreadyRightIsFine) {
  Repository repository = make();
  commit(repository, {{"a", "1\n"}});
  put(at("a"), "2\n");
  put(at("b"), "2\n");
  commit(repository, {{"a", "2\n"}, {"b", "2\n"}});
  EXPECT_EQ(status(), "");
}

TEST_F(WorkTreeTest, NeverWritesThroughLinks) {
  Repository repository = make();
  commit(repository, {{"d/a", "1\n"}, {"f", "1\n"}});
  fs::create_directory(scratch_ / "outside");
  put(scratch_ / "outside/a", "1\n");
  fs::remove_all(at("d"));
  fs::create_directory_symlink(scratch_ / "outside", at("d"));
  fs::remove(at("f"));
  fs::create_symlink(scratch_ / "outside/a", at("f"));
  const diag::Sink sink =
      commit_with_warnings(repository, {{"d/a", "2\n"}, {"d/b", "2\n"}, {"f", "2\n"}});
  EXPECT_TRUE(has(sink, kWorkTreeNotUpdated, "`d/a`")) << codes(sink);
  EXPECT_TRUE(has(sink, kWorkTreeNotUpdated, "`f`")) << codes(sink);
  EXPECT_EQ(get(scratch_ / "outside/a"), "1\n");
  EXPECT_FALSE(fs::exists(scratch_ / "outside/b"));
  EXPECT_TRUE(fs::is_symlink(at("f")));
}

TEST_F(WorkTreeTest, ExecutableFilesStayExecutable) {
  Repository repository = make();
  commit(repository, {{"run.sh", "1\n"}});
  ASSERT_EQ(::chmod(at("run.sh").c_str(), 0755), 0);
  ASSERT_EQ(git({"-c", "user.name=a", "-c", "user.email=b", "commit", "-qam", "mode"}).code, 0);
  commit(repository, {{"run.sh", "2\n"}});
  EXPECT_EQ(status(), "");
  EXPECT_EQ(git({"ls-tree", "HEAD", "run.sh"}).output.substr(0, 6), "100755");
  EXPECT_EQ(get(at("run.sh")), "2\n");
}

TEST_F(WorkTreeTest, ConfigurationAndHooksRunNothing) {
  Repository repository = make();
  const std::string mark = scratch_ / "ran";
  for (const char* hook : {"pre-commit", "post-commit", "reference-transaction", "post-checkout",
                           "commit-msg", "post-index-change"}) {
    put(at(std::string(".git/hooks/") + hook), "#!/bin/sh\ntouch " + mark + "\n");
    fs::permissions(at(std::string(".git/hooks/") + hook), fs::perms::all);
  }
  put(at(".git/evil"), "#!/bin/sh\ntouch " + mark + "\ncat\n");
  fs::permissions(at(".git/evil"), fs::perms::all);
  for (const std::string key : {"filter.evil.clean", "filter.evil.smudge", "core.fsmonitor",
                                "gpg.program", "core.editor", "core.pager"}) {
    ASSERT_EQ(git({"config", key, at(".git/evil")}).code, 0);
  }
  diag::Sink sink;
  auto opened = Repository::open(scratch_ / "repo", sink);
  ASSERT_TRUE(opened.has_value());
  commit(*opened, {{".gitattributes", "* filter=evil text eol=crlf\n"}, {"a", "x\n"}});
  commit(*opened, {{"a", "y\n"}, {"b", "z\n"}});
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_EQ(get(at("a")), "y\n");
  EXPECT_EQ(opened->read(opened->tip("main", sink), "a", sink), "y\n");
}

TEST_F(WorkTreeTest, ADetachedHeadIsLeftAlone) {
  Repository repository = make();
  commit(repository, {{"a", "1\n"}});
  ASSERT_EQ(git({"checkout", "-q", "--detach"}).code, 0);
  EXPECT_EQ(repository.head_branch(), "");
  commit(repository, {{"a", "2\n"}});
  EXPECT_EQ(get(at("a")), "1\n");
  EXPECT_EQ(status(), "");
}

TEST_F(WorkTreeTest, ADamagedIndexStopsTheCommit) {
  Repository repository = make();
  const std::string tip = commit(repository, {{"a", "1\n"}});
  put(at(".git/index"), "no index");
  diag::Sink sink;
  const CommitResult result = repository.commit({"main", tip, "Change", {{"a", "2\n"}}}, sink);
  EXPECT_EQ(static_cast<int>(result.status), static_cast<int>(CommitStatus::failed));
  EXPECT_TRUE(has(sink, kDamaged, "index")) << codes(sink);
  EXPECT_EQ(repository.tip("main", sink), tip);
  EXPECT_EQ(get(at("a")), "1\n");
  EXPECT_FALSE(fs::exists(at(".git/index.lock")));
}

TEST_F(WorkTreeTest, ConvertedLineEndingsAreNoChange) {
  Repository repository = make();
  commit(repository, {{"a", "1\n2\n"}, {"b", "1\n"}});
  ASSERT_EQ(git({"config", "core.autocrlf", "true"}).code, 0);
  fs::remove(at("a"));
  ASSERT_EQ(git({"checkout", "--", "a"}).code, 0);
  ASSERT_EQ(get(at("a")), "1\r\n2\r\n");
  diag::Sink sink;
  auto opened = Repository::open(scratch_ / "repo", sink);
  ASSERT_TRUE(opened.has_value());
  commit(*opened, {{"a", "1\n3\n"}, {"b", "2\n"}});
  EXPECT_EQ(status(), "");
  EXPECT_EQ(get(at("a")), "1\n3\n");
  // What differs in more than that is the user's.
  put(at("a"), "mine\r\n");
  const diag::Sink warned = commit_with_warnings(*opened, {{"a", "1\n4\n"}});
  EXPECT_TRUE(has(warned, kWorkTreeNotUpdated, "`a`")) << codes(warned);
  EXPECT_EQ(get(at("a")), "mine\r\n");
}

// A file system that refuses: the commit is made, an error says what is left to do, and the next
// run does it.
TEST_F(WorkTreeTest, WhatTheSystemRefusesIsFinishedLater) {
  Repository repository = make();
  const std::string tip = commit(repository, {{"a", "1\n"}, {"b", "1\n"}});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{8192, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  diag::Sink sink;
  const std::string large(100'000, 'x');  // as an object it is small
  const CommitResult result =
      repository.commit({"main", tip, "Change", {{"a", large}, {"b", "2\n"}}}, sink);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_EQ(static_cast<int>(result.status), static_cast<int>(CommitStatus::committed))
      << codes(sink);
  EXPECT_TRUE(has(sink, kCheckoutFailed, "File too large")) << codes(sink);
  EXPECT_EQ(get(at("b")), "2\n");
  EXPECT_EQ(get(at("a")), "1\n");
  diag::Sink later;
  EXPECT_TRUE(repository.finish_interrupted(false, later)) << codes(later);
  EXPECT_TRUE(has(later, kCheckoutFinished, "1 file follows")) << codes(later);
  EXPECT_EQ(get(at("a")), large);
  EXPECT_EQ(status(), "");
  diag::Sink silent;
  EXPECT_TRUE(repository.finish_interrupted(false, silent));
  EXPECT_TRUE(silent.empty());
}

}  // namespace
}  // namespace gpuctl::git
