#include <fcntl.h>
#include <signal.h>
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

TEST_F(CommitTest, FirstAndNextCommit) {
  Repository repository = make("repo.git");
  const std::string binary("\0\xFF\r\n", 4);
  const std::string first =
      commit(repository, {{"a/b/c.yaml", "one\n"}, {"top", binary}, {"a/d", ""}});
  EXPECT_EQ(content(repository, first),
            (Files{{"a/b/c.yaml", "one\n"}, {"a/d", ""}, {"top", binary}}));
  const std::string second = commit(repository, {{"a/b/e", "two"}, {"top", "new"}});
  EXPECT_EQ(content(repository, second),
            (Files{{"a/b/c.yaml", "one\n"}, {"a/b/e", "two"}, {"a/d", ""}, {"top", "new"}}));
  diag::Sink sink;
  EXPECT_EQ(repository.tip("main", sink), second);
  EXPECT_EQ(repository.read(second, "a/absent", sink), std::nullopt);
  EXPECT_EQ(repository.read(second, "a/b", sink), std::nullopt);
  EXPECT_EQ(repository.read(second, "top/x", sink), std::nullopt);
  EXPECT_EQ(repository.read(second, "", sink), std::nullopt);
  EXPECT_EQ(repository.list(second, "a/b", sink).size(), 2U);
  EXPECT_EQ(repository.list(second, "nowhere", sink).size(), 0U);
  EXPECT_EQ(repository.read_many(second, std::vector<std::string>{"top", "no", "a/d"}, sink),
            (std::vector<std::optional<std::string>>{"new", std::nullopt, ""}));
  EXPECT_TRUE(sink.empty()) << codes(sink);
  expect_sound("repo.git");
}

TEST_F(CommitTest, BlobIdsAreGits) {
  EXPECT_EQ(Repository::blob_id(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(Repository::blob_id("hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
}

TEST_F(CommitTest, GitSeesTheSame) {
  if (!have_git()) GTEST_SKIP() << "no git";
  Repository repository = make("repo.git");
  const std::string id = commit(repository, {{"x/y", "text\n"}, {"x-z", "2"}, {"x.z", "3"}});
  EXPECT_EQ(git({"show", "main:x/y"}, "repo.git").output, "text\n");
  EXPECT_EQ(git({"ls-tree", "-r", "--name-only", "main"}, "repo.git").output, "x-z\nx.z\nx/y\n");
  EXPECT_EQ(git({"log", "-1", "--format=%H|%an <%ae>|%cn|%B", "main"}, "repo.git").output,
            id + "|gpuctl <gpuctl@localhost>|gpuctl|Change\n\nBody.\n\n");
  diag::Sink sink;
  EXPECT_EQ(git({"rev-parse", "main:x"}, "repo.git").output,
            repository.tree_id(id, "x", sink) + "\n");
  EXPECT_EQ(git({"rev-parse", "main^{tree}"}, "repo.git").output,
            repository.tree_id(id, "", sink) + "\n");
  EXPECT_EQ(repository.tree_id(id, "x/y", sink), "");
  EXPECT_EQ(repository.tree_id(id, "no", sink), "");
}

TEST_F(CommitTest, NothingChangedIsNoCommit) {
  Repository repository = make("repo.git");
  EXPECT_EQ(commit(repository, {}, CommitStatus::unchanged), "");
  EXPECT_EQ(commit(repository, {{"x", std::nullopt}}, CommitStatus::unchanged), "");
  const std::string id = commit(repository, {{"a/b", "1"}, {"c", "2"}});
  EXPECT_EQ(commit(repository, {{"a/b", "1"}}, CommitStatus::unchanged), id);
  EXPECT_EQ(commit(repository, {{"a/x", std::nullopt}, {"no/such/dir", std::nullopt}},
                   CommitStatus::unchanged),
            id);
  EXPECT_EQ(
      commit(repository, {{"a", std::nullopt}, {"c/d", std::nullopt}}, CommitStatus::unchanged),
      id);  // a directory and the inside of a file are no files
}

TEST_F(CommitTest, DeletingEmptiesDirectories) {
  Repository repository = make("repo.git");
  commit(repository, {{"a/b/c/d", "1"}, {"a/x", "2"}});
  std::string id = commit(repository, {{"a/b/c/d", std::nullopt}});
  diag::Sink sink;
  EXPECT_EQ(repository.tree_id(id, "a/b", sink), "");
  EXPECT_NE(repository.tree_id(id, "a", sink), "");
  id = commit(repository, {{"a/x", std::nullopt}});
  EXPECT_EQ(content(repository, id), Files{});
  expect_sound("repo.git");
  id = commit(repository, {{"again", "3"}});
  EXPECT_EQ(content(repository, id), (Files{{"again", "3"}}));
}

TEST_F(CommitTest, FilesAndDirectoriesReplaceEachOtherOnlyWhenTold) {
  Repository repository = make("repo.git");
  commit(repository, {{"a", "file"}, {"d/x", "1"}, {"d/y", "2"}});
  EXPECT_TRUE(has(refused(repository, {{"a/b", "1"}}), kUnsafePath, "`a` is a file"));
  EXPECT_TRUE(has(refused(repository, {{"d", "1"}}), kUnsafePath, "`d` is a directory"));
  EXPECT_TRUE(has(refused(repository, {{"d", "1"}, {"d/x", std::nullopt}}), kUnsafePath));
  const std::string id = commit(repository, {{"a", std::nullopt},
                                             {"a/b", "1"},
                                             {"d", "now a file"},
                                             {"d/x", std::nullopt},
                                             {"d/y", std::nullopt}});
  EXPECT_EQ(content(repository, id), (Files{{"a/b", "1"}, {"d", "now a file"}}));
  expect_sound("repo.git");
}

TEST_F(CommitTest, RefusesUnsafePaths) {
  Repository repository = make("repo.git");
  for (const std::string path :
       {"", "/etc/passwd", "../x", "a/../b", "./a", "a//b", ".git/config", "a/.GIT/x", "git~1",
        ".g\xE2\x80\x8Cit/x", "a\\b", "a\nb", ".git ./x", "x/"}) {
    EXPECT_TRUE(has(refused(repository, {{path, "bad"}}), kUnsafePath)) << path;
    EXPECT_TRUE(has(refused(repository, {{path, std::nullopt}}), kUnsafePath)) << path;
  }
  std::string deep = "x";
  for (int i = 0; i < 100; ++i) deep += "/x";
  EXPECT_TRUE(has(refused(repository, {{deep, "bad"}}), kUnsafePath));
  EXPECT_TRUE(has(refused(repository, {{std::string(256, 'x'), "bad"}}), kUnsafePath));
  EXPECT_TRUE(has(refused(repository, {{"a", "1"}, {"a", "2"}}), kUnsafePath, "twice"));
  EXPECT_TRUE(has(refused(repository, {{"a", "1"}, {"a/b", "2"}}), kUnsafePath));
}

TEST_F(CommitTest, RandomChangesGiveTheSameTreeAsAMap) {
  Repository repository = make("repo.git");
  std::mt19937 random(4711);
  Files model;
  const auto pick = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
  for (int round = 0; round < 60; ++round) {
    std::map<std::string, std::optional<std::string>> wanted;
    for (int i = 0; i < 25; ++i) {
      std::string path = "d" + std::to_string(pick(4));
      for (unsigned depth = pick(3); depth > 0; --depth) path += "/e" + std::to_string(pick(3));
      path += "/f" + std::to_string(pick(6));
      if (pick(3) == 0) {
        wanted[path] = std::nullopt;
      } else {
        wanted[path] = std::to_string(pick(5));
      }
    }
    std::vector<Change> changes;
    for (const auto& [path, text] : wanted) changes.push_back({path, text});
    std::shuffle(changes.begin(), changes.end(), random);
    const Files before = model;
    for (const auto& [path, text] : wanted) {
      if (text) {
        model[path] = *text;
      } else {
        model.erase(path);
      }
    }
    const std::string id = commit(
        repository, changes, model == before ? CommitStatus::unchanged : CommitStatus::committed);
    ASSERT_EQ(content(repository, id), model) << "round " << round;
  }
  expect_sound("repo.git");
}

TEST_F(CommitTest, ManyFilesBecomeOnePack) {
  Repository repository = make("repo.git");
  std::vector<Change> changes;
  Files model;
  for (int i = 0; i < 1000; ++i) {
    const std::string path = "c" + std::to_string(i % 40) + "/layers/f" + std::to_string(i);
    changes.push_back({path, "content " + std::to_string(i) + "\n"});
    model[path] = *changes.back().content;
  }
  std::string id = commit(repository, changes);
  EXPECT_EQ(content(repository, id), model);
  int packs = 0;
  for (const auto& file : fs::directory_iterator(scratch_ / "repo.git/objects/pack")) {
    if (file.path().extension() == ".pack") ++packs;
  }
  EXPECT_EQ(packs, 1);
  EXPECT_FALSE(fs::exists(scratch_ / ("repo.git/objects/" + id.substr(0, 2))));
  expect_sound("repo.git");
  EXPECT_EQ(commit(repository, changes, CommitStatus::unchanged), id);
  for (Change& change : changes) change.content = *change.content + "more\n";
  changes.resize(300);
  for (const Change& change : changes) model[change.path] = *change.content;
  id = commit(repository, changes);
  EXPECT_EQ(content(repository, id), model);
  expect_sound("repo.git");
}

TEST_F(CommitTest, OnlyTheExpectedParentIsReplaced) {
  Repository repository = make("repo.git");
  const std::string first = commit(repository, {{"a", "1"}});
  const std::string second = commit(repository, {{"a", "2"}});
  diag::Sink sink;
  const auto attempt = [&](const std::string& parent) {
    return repository.commit({"main", parent, "X", {{"a", "3"}}}, sink).status;
  };
  EXPECT_EQ(attempt(first), CommitStatus::moved);
  EXPECT_EQ(attempt(""), CommitStatus::moved);
  EXPECT_EQ(repository.commit({"gone", second, "X", {{"a", "3"}}}, sink).status,
            CommitStatus::moved);
  EXPECT_EQ(repository.tip("main", sink), second);
  EXPECT_TRUE(sink.empty()) << codes(sink);
  EXPECT_EQ(attempt(second), CommitStatus::committed);
  report_moved("main", 5, sink);
  EXPECT_TRUE(has(sink, kBranchMoved, "5 attempts"));
}

TEST_F(CommitTest, ABranchBesideHeadLeavesTheWorkTreeAlone) {
  Repository repository = make();
  const std::string first = commit(repository, {{"a", "1"}});
  diag::Sink sink;
  const CommitResult side = repository.commit({"side/branch", "", "Side", {{"b", "2"}}}, sink);
  ASSERT_EQ(side.status, CommitStatus::committed) << codes(sink);
  EXPECT_EQ(content(repository, side.id), (Files{{"b", "2"}}));
  EXPECT_FALSE(fs::exists(scratch_ / "repo/b"));
  EXPECT_EQ(repository.tip("main", sink), first);
  // A branch may not be named like the directory of another one.
  EXPECT_EQ(repository.commit({"side", "", "Side", {{"b", "2"}}}, sink).status,
            CommitStatus::failed);
  EXPECT_TRUE(has(sink, kCannotWrite)) << codes(sink);
}

TEST_F(CommitTest, ProcessesAtTheSameTimeLoseNothing) {
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

TEST_F(CommitTest, ThreadsWithTheirOwnHandlesLoseNothing) {
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

TEST_F(CommitTest, ForeignLockFilesAreReportedAndKept) {
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

TEST_F(CommitTest, AShortForeignLockIsWaitedFor) {
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

TEST_F(CommitTest, OurLockKeepsOtherRunsOut) {
  Repository repository = make("repo.git");
  commit(repository, {{"a", "1"}});
  const int file = ::open((scratch_ / "repo.git/gpuctl.lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  const diag::Sink sink = refused(repository, {{"a", "2"}});
  EXPECT_TRUE(has(sink, kLocked, std::to_string(::getpid()))) << codes(sink);
  ::close(file);
  commit(repository, {{"a", "2"}});
}

TEST_F(CommitTest, WriteFailuresLeaveTheBranch) {
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

TEST_F(CommitTest, AReadOnlyRepositoryIsReported) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  Repository repository = make("repo.git");
  commit(repository, {{"a", "1"}});
  ASSERT_EQ(::chmod((scratch_ / "repo.git/objects").c_str(), 0555), 0);
  EXPECT_TRUE(has(refused(repository, {{"a", "2"}}), kCannotWrite));
  ASSERT_EQ(::chmod((scratch_ / "repo.git/objects").c_str(), 0755), 0);
}

TEST_F(CommitTest, DamageIsReportedAndNeverCommittedOver) {
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

TEST_F(CommitTest, ABranchThatIsAnotherNameIsRefused) {
  Repository repository = make("repo.git");
  commit(repository, {{"a", "1"}});
  put(scratch_ / "repo.git/refs/heads/alias", "ref: refs/heads/main\n");
  diag::Sink sink;
  EXPECT_EQ(repository.commit({"alias", "", "X", {{"a", "2"}}}, sink).status, CommitStatus::failed);
  EXPECT_TRUE(has(sink, kUnsupportedRepository, "refs/heads/main")) << codes(sink);
}

TEST_F(CommitTest, KilledRunsLeaveTheOldOrTheNewCommit) {
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
