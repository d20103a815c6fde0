#include <sys/stat.h>

#include "fixture.hpp"

namespace gpuctl::git {
namespace {

namespace fs = std::filesystem;
using test::get;
using test::put;

class OpenTest : public GitTest {
 protected:
  /// Opens (or creates) and gives the diagnostics; a success is a test failure.
  diag::Sink refused(const std::string& path, const std::string& branch = "main") {
    diag::Sink sink;
    bool created = true;
    EXPECT_FALSE(Repository::open_or_create(path, branch, created, sink).has_value()) << path;
    EXPECT_FALSE(created);
    return sink;
  }
};

TEST_F(OpenTest, CreatesAnOrdinaryRepository) {
  Repository repository = make("new/deep/repo");
  EXPECT_FALSE(repository.is_bare());
  EXPECT_EQ(repository.head_branch(), "main");
  diag::Sink sink;
  EXPECT_EQ(repository.tip("main", sink), "");
  EXPECT_TRUE(sink.empty()) << codes(sink);
  EXPECT_TRUE(fs::is_directory(scratch_ / "new/deep/repo/.git"));
  EXPECT_EQ(repository.git_directory(), fs::canonical(scratch_ / "new/deep/repo/.git").string());
  expect_sound("new/deep/repo");
  bool created = true;
  EXPECT_TRUE(Repository::open_or_create(scratch_ / "new/deep/repo", "other", created, sink));
  EXPECT_FALSE(created);
}

TEST_F(OpenTest, CreatesABareRepositoryWhenTheNameSaysSo) {
  Repository repository = make("x.git");
  EXPECT_TRUE(repository.is_bare());
  EXPECT_TRUE(fs::is_regular_file(scratch_ / "x.git/HEAD"));
  EXPECT_EQ(get(scratch_ / "x.git/HEAD"), "ref: refs/heads/main\n");
  expect_sound("x.git");
}

TEST_F(OpenTest, TakesAnEmptyDirectoryAndAnInterruptedCreation) {
  fs::create_directories(scratch_ / "repo/.gpuctl-init-abc123/made/.git");
  struct stat before {};
  ASSERT_EQ(::stat((scratch_ / "repo").c_str(), &before), 0);
  make();
  struct stat after {};
  ASSERT_EQ(::stat((scratch_ / "repo").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);  // it may be somebody's current directory
  fs::create_directory(scratch_ / "y.git");
  EXPECT_TRUE(make("y.git").is_bare());
}

TEST_F(OpenTest, LeavesNothingTemporaryBehind) {
  make();
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(scratch_ / "repo")) ++entries;
  EXPECT_EQ(entries, 1);
}

TEST_F(OpenTest, RefusesWhatIsNoRepository) {
  put(scratch_ / "full/file", "x");
  const diag::Sink full = refused(scratch_ / "full");
  EXPECT_TRUE(has(full, kNotARepository, "git init")) << codes(full);
  EXPECT_FALSE(fs::exists(scratch_ / "full/.git"));
  EXPECT_TRUE(has(refused(scratch_ / "full/file"), kNotARepository, "not a directory"));
  EXPECT_TRUE(has(refused(""), kNotARepository));
  EXPECT_TRUE(has(refused(scratch_ / "absent/.git"), kNotARepository, "directory above"));
  diag::Sink sink;
  EXPECT_FALSE(Repository::open(scratch_ / "absent", sink));
  EXPECT_TRUE(has(sink, kNotARepository)) << codes(sink);
}

TEST_F(OpenTest, DoesNotSearchUpwards) {
  make();
  put(scratch_ / "repo/sub/file", "x");
  EXPECT_TRUE(has(refused(scratch_ / "repo/sub"), kNotARepository));
}

TEST_F(OpenTest, RefusesLinks) {
  make();
  fs::create_directory_symlink(scratch_ / "repo", scratch_ / "link");
  const diag::Sink sink = refused(scratch_ / "link");
  EXPECT_TRUE(has(sink, kNotARepository, scratch_ / "repo")) << codes(sink);
  fs::create_directory_symlink(scratch_ / "nowhere", scratch_ / "dangling");
  EXPECT_TRUE(has(refused(scratch_ / "dangling/"), kNotARepository, "symbolic link"));
  EXPECT_FALSE(fs::exists(scratch_ / "nowhere"));
}

TEST_F(OpenTest, RefusesAddresses) {
  for (const std::string path :
       {"https://host/x.git", "git@host:x", "file:///tmp/x", "ext::x", "a:b@host:x"}) {
    EXPECT_TRUE(has(refused(path), kNotARepository, "address")) << path;
    EXPECT_FALSE(fs::exists(path));
  }
  Repository repository = make("a:b/x@y:z");
  EXPECT_EQ(repository.head_branch(), "main");
}

TEST_F(OpenTest, RefusesToWriteThroughLinksInTheRepository) {
  put(scratch_ / "precious", "precious\n");
  for (const std::string path : {"HEAD", "index", "logs/HEAD", "logs/refs/heads/main",
                                 "packed-refs", "objects/pack", "objects/ab", "refs/heads"}) {
    const std::string name = "repo-" + path;
    Repository repository = make(name);
    const fs::path link = fs::path(scratch_ / name) / ".git" / path;
    const bool wanted = path == "HEAD" || path == "refs/heads" || path == "objects/pack";
    const fs::path target = wanted ? fs::path(scratch_ / "away") : fs::path(scratch_ / "precious");
    fs::create_directories(link.parent_path());
    if (wanted) fs::rename(link, target);
    fs::create_symlink(target, link);
    diag::Sink sink;
    EXPECT_EQ(repository.commit({"main", "", "m", {{"a", "1"}}}, sink).status,
              CommitStatus::failed);
    EXPECT_TRUE(has(sink, kUnsupportedRepository, path)) << codes(sink);
    EXPECT_EQ(get(scratch_ / "precious"), "precious\n");
    fs::remove_all(scratch_ / "away");
  }
}

TEST_F(OpenTest, ACreationCanBeTakenBack) {
  for (const std::string name : {"new/deep/repo", "new/x.git"}) {
    make(name).take_back_creation();
    EXPECT_FALSE(fs::exists(scratch_ / "new")) << name;
  }
  for (const std::string name : {"repo", "y.git"}) {
    fs::create_directory(scratch_ / name);
    make(name).take_back_creation();
    EXPECT_TRUE(fs::is_empty(scratch_ / name)) << name;
  }
  // Not what somebody has filled by then, and not what we only opened.
  Repository filled = make("filled");
  put(scratch_ / "filled/.git/refs/heads/other", "x");
  filled.take_back_creation();
  EXPECT_TRUE(fs::exists(scratch_ / "filled/.git/refs/heads/other"));
  make("opened");
  diag::Sink sink;
  bool created = true;
  auto opened = Repository::open_or_create(scratch_ / "opened", "main", created, sink);
  ASSERT_TRUE(opened.has_value());
  opened->take_back_creation();
  EXPECT_TRUE(fs::exists(scratch_ / "opened/.git/HEAD"));
}

TEST_F(OpenTest, RefusesBadBranchNames) {
  for (const std::string branch : {"", "-x", "a..b", "a b", "HEAD", "a/", "x.lock", "a\nb"}) {
    EXPECT_TRUE(has(refused(scratch_ / "repo", branch), kUnsafePath)) << branch;
  }
  EXPECT_FALSE(fs::exists(scratch_ / "repo"));
}

TEST_F(OpenTest, RefusesForeignOwners) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a directory away";
  make();
  make("bare.git");
  for (const std::string name : {"repo", "bare.git"}) {
    ASSERT_EQ(::chown((scratch_ / name).c_str(), 12345, 12345), 0);
    const diag::Sink sink = refused(scratch_ / name);
    EXPECT_TRUE(has(sink, kForeignOwner, "safe.directory")) << codes(sink);
  }
}

TEST_F(OpenTest, RefusesSha256Repositories) {
  if (!have_git()) GTEST_SKIP() << "no git";
  ASSERT_EQ(run({"git", "init", "-q", "--object-format=sha256", scratch_ / "repo"}).code, 0);
  const diag::Sink sink = refused(scratch_ / "repo");
  EXPECT_TRUE(has(sink, kUnsupportedRepository)) << codes(sink);
}

TEST_F(OpenTest, RefusesUnsupportedConfigurations) {
  const std::vector<std::string> configurations = {
      "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n",
      "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialSomething = 1\n",
      "[core]\n\trepositoryformatversion = 7\n",
      "[core]\n\trepositoryformatversion = 0\n\tworktree = " + scratch_.path().string() + "\n",
      "[core]\n\trepositoryformatversion = 0\n\tsharedRepository = group\n"};
  make();
  for (const std::string& configuration : configurations) {
    put(scratch_ / "repo/.git/config", configuration);
    const diag::Sink sink = refused(scratch_ / "repo");
    EXPECT_TRUE(has(sink, kUnsupportedRepository)) << configuration << codes(sink);
  }
  put(scratch_ / "repo/.git/config", "[core\n broken");
  EXPECT_TRUE(has(refused(scratch_ / "repo"), kDamaged));
}

TEST_F(OpenTest, CreatorsAtTheSameTimeGetOneRepository) {
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      diag::Sink sink;
      bool created = false;
      const bool ok =
          Repository::open_or_create(scratch_ / "repo", "main", created, sink).has_value();
      ::_exit(ok ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  expect_sound();
}

}  // namespace
}  // namespace gpuctl::git
