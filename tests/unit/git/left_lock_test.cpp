// What a killed run leaves: its note, and the lock file of Git.
#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

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
    const std::string note = test::get(scratch_ / "repo.git/gpuctl.lock");
    lock.reset();
    test::put(scratch_ / "repo.git/gpuctl.lock", note);  // which an owner that is killed leaves
    if (!content.empty()) test::put(file_, content);
  }

  bool commits() {
    diag::Sink sink;
    auto repository = Repository::open(scratch_ / "repo.git", sink);
    repository->set_lock_wait(std::chrono::milliseconds(50));
    const std::string tip = repository->tip("main", sink);
    const CommitResult made = repository->commit({"main", tip, "m", {{"a", tip}}}, sink);
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

// The kernel sets the time of change before it looks whether the writer was killed: in one of some
// hundred kills between the making of the file and what is written to it.
TEST_F(LeftLockTest, IsRemovedWhenItsWriteWasCutShort) {
  leave("");
  struct statx status {};
  ASSERT_EQ(::statx(AT_FDCWD, file_.c_str(), 0, STATX_BTIME, &status), 0);
  if ((status.stx_mask & STATX_BTIME) == 0) GTEST_SKIP() << "no times of making on this disk";
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const int writer = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::futimens(writer, nullptr), 0);
  ::close(writer);
  EXPECT_TRUE(commits());
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
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  test::put(file_, "");  // the same name, later
  EXPECT_FALSE(commits());
  EXPECT_TRUE(std::filesystem::exists(file_));
}

TEST_F(LeftLockTest, IsRemovedFromTheMomentItIsMade) {
  const std::string note = scratch_ / "repo.git/gpuctl.lock";
  test::put(note, "1\n- " + id_ + " refs/heads/main.lock\n");
  test::put(file_, "");
  EXPECT_TRUE(commits());

  test::put(file_, "");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  test::put(note, "1\n- " + id_ + " refs/heads/main.lock\n");
  EXPECT_FALSE(commits()) << "older than the note";
  std::filesystem::remove(file_);

  test::put(note, "1\n- " + id_ + " refs/heads/main.lock\n");
  test::put(file_, "");
  const int writer = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_FALSE(commits()) << "somebody writes it";
  ::close(writer);
  std::filesystem::remove(file_);

  const auto noted = [&](std::chrono::seconds before) {
    test::put(note, "1\n- " + id_ + " refs/heads/main.lock\n");
    std::filesystem::last_write_time(note, std::filesystem::file_time_type::clock::now() - before);
    test::put(file_, "");
  };
  noted(std::chrono::seconds(20));
  EXPECT_TRUE(commits()) << "the disk was busy between the note and the file";
  noted(std::chrono::seconds(90));
  EXPECT_FALSE(commits()) << "made long after the note";
}

TEST_F(LeftLockTest, ANoteStaysUntilItIsDealtWith) {
  const std::string path = scratch_ / "repo.git/gpuctl.lock";
  const std::string note = "1\n- " + id_ + " refs/heads/main.lock\n";
  test::put(path, note);
  const FileLock lock = FileLock::acquire(path, {}, [](const std::string&) {});
  ASSERT_TRUE(lock);
  EXPECT_EQ(test::get(path), note) << "a kill at this moment must lose nothing";
}

TEST_F(LeftLockTest, HalfWrittenObjectsAreRemoved) {
  const std::string lock = scratch_ / "repo.git/gpuctl.lock";
  const std::string old = scratch_ / "repo.git/objects/tmp_object_git2_0";
  const std::string left = scratch_ / "repo.git/objects/tmp_object_git2_1";
  const std::string pack = scratch_ / "repo.git/objects/pack/pack_git2_1";
  const std::string of_git = scratch_ / "repo.git/objects/pack/tmp_pack_abcdef";
  const std::string open = scratch_ / "repo.git/objects/tmp_object_git2_2";
  test::put(old, "x");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  test::put(lock, "1\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const std::string& file : {left, pack, of_git, open}) test::put(file, "x");
  const int writer = ::open(open.c_str(), O_WRONLY | O_CLOEXEC);
  diag::Sink sink;
  EXPECT_TRUE(RepositoryLock::acquire(scratch_ / "repo.git", std::chrono::milliseconds(0), sink));
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_FALSE(std::filesystem::exists(pack));
  EXPECT_TRUE(std::filesystem::exists(of_git)) << "not ours";
  EXPECT_TRUE(std::filesystem::exists(old)) << "older than the run that died";
  EXPECT_TRUE(std::filesystem::exists(open)) << "somebody writes it";
  ::close(writer);
  EXPECT_FALSE(RepositoryLock::is_left(scratch_ / "repo.git"));
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
