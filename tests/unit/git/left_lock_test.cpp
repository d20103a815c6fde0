// What a killed run leaves: its note, and the lock file of Git.
#include "fixture.hpp"
#include "git/lock.hpp"

namespace gpuctl::git {
namespace {

class LeftLockTest : public GitTest {
 protected:
  void SetUp() override {
    Repository repository = make("repo.git");
    id_ = commit(repository, {{"a", "1"}});
    file_ = scratch_ / "repo.git/refs/heads/main.lock";
  }

  void leave(const std::string& content) {
    test::put(file_, "");
    diag::Sink sink;
    auto lock = RepositoryLock::acquire(scratch_ / "repo.git", std::chrono::milliseconds(0), sink);
    ASSERT_TRUE(lock.has_value());
    lock->note_lock_file("refs/heads/main.lock", id_);
    if (!content.empty()) test::put(file_, content);
  }

  bool commits() {
    diag::Sink sink;
    auto repository = Repository::open(scratch_ / "repo.git", sink);
    repository->set_lock_wait(std::chrono::milliseconds(50));
    const CommitResult made = repository->commit({"main", id_, "m", {{"a", "2"}}}, sink);
    EXPECT_EQ(made.status == CommitStatus::committed, sink.empty()) << codes(sink);
    return made.status == CommitStatus::committed;
  }

  std::string id_;
  std::string file_;
};

TEST_F(LeftLockTest, IsRemovedWhenUntouched) {
  leave("");
  EXPECT_TRUE(commits());
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(LeftLockTest, IsRemovedWithOurCommitInIt) {
  leave(id_ + "\n");
  EXPECT_TRUE(commits());
}

TEST_F(LeftLockTest, StaysWhenItMayBeOfSomebodyElse) {
  leave(std::string(40, '1') + "\n");
  EXPECT_FALSE(commits());
  std::filesystem::remove(file_);
  leave("");
  std::filesystem::remove(file_);
  test::put(file_, "");  // the same name, later
  EXPECT_FALSE(commits());
  EXPECT_TRUE(std::filesystem::exists(file_));
}

TEST_F(LeftLockTest, NothingElseIsRemoved) {
  const std::string other = scratch_ / "other.lock";
  for (const char* name : {"../other.lock", "refs/heads/../../../other.lock", "HEAD"}) {
    test::put(other, id_ + "\n");
    test::put(scratch_ / "repo.git/gpuctl.lock", "1\n1.1 " + id_ + " " + name + "\n");
    diag::Sink sink;
    EXPECT_TRUE(RepositoryLock::acquire(scratch_ / "repo.git", std::chrono::milliseconds(0), sink));
    EXPECT_TRUE(std::filesystem::exists(other)) << name;
  }
}

}  // namespace
}  // namespace gpuctl::git
