// Several writers, lock files of others, failing disks, damage and sudden death.
#include <fcntl.h>
#include <signal.h>  // NOLINT: kill() is of POSIX, and not in <csignal>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <thread>

#include "fixture.hpp"

namespace gpuctl::git {
namespace {

namespace fs = std::filesystem;
using test::get;
using test::put;
class TroubleTest : public CommitTest {};

TEST_F(TroubleTest, ProcessesAtTheSameTimeLoseNothing) {
  make("repo.git");
  constexpr int kProcesses = 4;
  constexpr int kCommits = 20;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      diag::Sink sink;
      auto repository = Repository::open(scratch_ / "repo.git", sink);
      int done = 0;
      for (int tries = 0; repository && done < kCommits && tries < 2000; ++tries) {
        const std::string tip = repository->tip("main", sink);
        const std::string path = "p" + std::to_string(process) + "/" + std::to_string(done);
        const auto result = repository->commit({"main", tip, path, {{path, path}}}, sink);
        if (result.status == CommitStatus::committed) ++done;
        if (result.status == CommitStatus::failed) break;
      }
      if (!sink.empty()) std::fputs(codes(sink).c_str(), stderr);
      ::_exit(done == kCommits ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  diag::Sink sink;
  auto repository = Repository::open(scratch_ / "repo.git", sink);
  EXPECT_EQ(content(*repository, repository->tip("main", sink)).size(),
            static_cast<std::size_t>(kProcesses * kCommits));
  if (have_git()) {
    EXPECT_EQ(git({"rev-list", "--count", "--first-parent", "main"}, "repo.git").output, "80\n");
  }
  expect_sound("repo.git");
}

TEST_F(TroubleTest, ThreadsWithTheirOwnHandlesLoseNothing) {
  make();  // with a work tree and an index
  std::vector<std::thread> threads;
  std::array<int, 4> done{};
  for (std::size_t thread = 0; thread < done.size(); ++thread) {
    threads.emplace_back([&, thread] {
      diag::Sink sink;
      auto repository = Repository::open(scratch_ / "repo", sink);
      for (int tries = 0; done[thread] < 8 && tries < 2000; ++tries) {
        const std::string path = "t" + std::to_string(thread) + "/" + std::to_string(done[thread]);
        const auto result =
            repository->commit({"main", repository->tip("main", sink), path, {{path, "x"}}}, sink);
        if (result.status == CommitStatus::committed) ++done[thread];
      }
      EXPECT_TRUE(sink.empty()) << codes(sink);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, (std::array<int, 4>{8, 8, 8, 8}));
  if (have_git()) {
    EXPECT_EQ(git({"status", "--porcelain"}).output, "");
  }
  expect_sound();
}

TEST_F(TroubleTest, ForeignLockFilesAreReportedAndKept) {
  Repository repository = make();
  commit(repository, {{"a", "1"}});
  for (const std::string name : {"index.lock", "HEAD.lock", "refs/heads/main.lock"}) {
    const std::string file = scratch_ / ("repo/.git/" + name);
    put(file, "");
    const diag::Sink sink = refused(repository, {{"a", "2"}});
    EXPECT_TRUE(has(sink, kLocked, name)) << codes(sink);
    EXPECT_TRUE(has(sink, kLocked, "old")) << codes(sink);
    EXPECT_TRUE(fs::exists(file));
    fs::remove(file);
  }
  EXPECT_EQ(get(scratch_ / "repo/a"), "1");
  commit(repository, {{"a", "2"}});
}

TEST_F(TroubleTest, AShortForeignLockIsWaitedFor) {
  Repository repository = make("repo.git");
  repository.set_lock_wait(std::chrono::seconds(10));
  commit(repository, {{"a", "1"}});
  const std::string file = scratch_ / "repo.git/refs/heads/main.lock";
  put(file, "");
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    fs::remove(file);
  });
  commit(repository, {{"a", "2"}});
  other.join();
}

TEST_F(TroubleTest, OurLockKeepsOtherRunsOut) {
  Repository repository = make("repo.git");
  commit(repository, {{"a", "1"}});
  const int file = ::open((scratch_ / "repo.git/gpuctl.lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  put(scratch_ / "repo.git/gpuctl.lock", "4711\n");
  const diag::Sink sink = refused(repository, {{"a", "2"}});
  EXPECT_TRUE(has(sink, kLocked, "4711")) << codes(sink);
  ::close(file);
  commit(repository, {{"a", "2"}});
}

TEST_F(TroubleTest, WriteFailuresLeaveTheBranch) {
  Repository repository = make("repo.git");
  const std::string tip = commit(repository, {{"a", "1"}});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::mt19937 random(1);
  std::string noise(5000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  const diag::Sink sink = refused(repository, {{"a", noise}});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_TRUE(has(sink, kCannotWrite)) << codes(sink);
  diag::Sink after;
  EXPECT_EQ(repository.tip("main", after), tip);
  expect_sound("repo.git");
}

TEST_F(TroubleTest, AReadOnlyRepositoryIsReported) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  Repository repository = make("repo.git");
  commit(repository, {{"a", "1"}});
  ASSERT_EQ(::chmod((scratch_ / "repo.git/objects").c_str(), 0555), 0);
  EXPECT_TRUE(has(refused(repository, {{"a", "2"}}), kCannotWrite));
  ASSERT_EQ(::chmod((scratch_ / "repo.git/objects").c_str(), 0755), 0);
}

TEST_F(TroubleTest, DamageIsReportedAndNeverCommittedOver) {
  for (const bool missing : {true, false}) {
    const std::string name = missing ? "missing.git" : "flipped.git";
    Repository repository = make(name);
    const std::string id = commit(repository, {{"d/e/f", "1"}, {"d/g", "2"}});
    diag::Sink sink;
    const std::string tree = repository.tree_id(id, "d", sink);
    const std::string file =
        scratch_ / (name + "/objects/" + tree.substr(0, 2) + "/" + tree.substr(2));
    ASSERT_TRUE(fs::exists(file));
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    if (missing) {
      fs::remove(file);
    } else {
      put(file, "garbage");
    }
    auto damaged = Repository::open(scratch_ / name, sink);  // nothing cached
    ASSERT_TRUE(damaged.has_value());
    damaged->set_lock_wait(std::chrono::milliseconds(100));
    EXPECT_TRUE(has(refused(*damaged, {{"d/g", "3"}}), kDamaged));
    diag::Sink reading;
    EXPECT_EQ(damaged->read(id, "d/g", reading), std::nullopt);
    EXPECT_TRUE(has(reading, kDamaged)) << codes(reading);
    diag::Sink listing;
    EXPECT_TRUE(damaged->list(id, "", listing).empty());
    EXPECT_TRUE(has(listing, kDamaged)) << codes(listing);
  }
}

TEST_F(TroubleTest, KilledRunsLeaveTheOldOrTheNewCommit) {
  Repository repository = make();
  std::string before = commit(repository, {{"n", "0"}});
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      diag::Sink sink;
      auto own = Repository::open(scratch_ / "repo", sink);
      for (int i = 0; own && i < 1000; ++i) {
        std::vector<Change> changes;
        for (int j = 0; j < 20; ++j) {
          changes.push_back({"d/" + std::to_string(j), std::to_string(round * 1000 + i)});
        }
        own->commit({"main", own->tip("main", sink), "Round", changes}, sink);
      }
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    // What the kill left: lock files of libgit2, which a user would have to remove.
    for (const char* name : {"index.lock", "HEAD.lock", "refs/heads/main.lock"}) {
      fs::remove(scratch_ / (std::string("repo/.git/") + name));
    }
    diag::Sink sink;
    auto after = Repository::open(scratch_ / "repo", sink);
    ASSERT_TRUE(after.has_value()) << codes(sink);
    const Files files = content(*after, after->tip("main", sink));
    for (int j = 1; j < 20 && files.contains("d/0"); ++j) {
      ASSERT_EQ(files.at("d/" + std::to_string(j)), files.at("d/0")) << "half a commit";
    }
  }
  expect_sound();
}

}  // namespace
}  // namespace gpuctl::git
