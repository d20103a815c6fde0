#include "install/place.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "install/codes.hpp"
#include "install/story.hpp"

namespace gpuctl::install {
namespace {

class PlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "gpuctl-place-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string first_code() const { return sink_.all().empty() ? "" : sink_.all().front().code; }

  std::filesystem::path root_;
  diag::Sink sink_;
};

TEST_F(PlaceTest, IsPrivateAndLocked) {
  const std::string directory = root_ / "a" / "b";
  auto place = Place::open(directory, Place::Use::install, sink_);
  ASSERT_TRUE(place);
  struct stat status {};
  ASSERT_EQ(::stat(directory.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  EXPECT_FALSE(Place::open(directory, Place::Use::install, sink_));
  EXPECT_EQ(first_code(), kInUse);
  EXPECT_TRUE(place->append("{}", sink_));
  diag::Sink other;
  EXPECT_TRUE(Place::open(directory, Place::Use::read, other));
  place.reset();
  EXPECT_TRUE(Place::open(directory, Place::Use::change, other));
}

TEST_F(PlaceTest, RefusesADirectoryThatOthersRead) {
  ASSERT_EQ(::chmod(root_.c_str(), 0750), 0);
  EXPECT_FALSE(Place::open(root_, Place::Use::install, sink_));
  EXPECT_EQ(first_code(), kPlaceUnusable);
}

TEST_F(PlaceTest, WantsAJournalUnlessItInstalls) {
  EXPECT_FALSE(Place::open(root_, Place::Use::read, sink_));
  EXPECT_EQ(first_code(), kNoJournal);
}

TEST_F(PlaceTest, ReplacesALineThatAKillCutOff) {
  auto place = Place::open(root_, Place::Use::install, sink_);
  ASSERT_TRUE(place && place->append("one", sink_));
  place.reset();
  std::ofstream(root_ / "journal.jsonl", std::ios::app) << "tw";
  place = Place::open(root_, Place::Use::install, sink_);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->lines(sink_), std::vector<std::string>{"one"});
  ASSERT_TRUE(place->append("three", sink_));
  EXPECT_EQ(place->lines(sink_), (std::vector<std::string>{"one", "three"}));
}

TEST_F(PlaceTest, SaysWhatCannotBeWritten) {
  auto place = Place::open(root_, Place::Use::install, sink_);
  ASSERT_TRUE(place);
  std::filesystem::create_directory(root_ / "file");
  EXPECT_FALSE(place->write("file", "text", sink_));
  EXPECT_EQ(first_code(), kUnwritable);
}

TEST_F(PlaceTest, TellsTheStoryOfItsAttempt) {
  auto place = Place::open(root_, Place::Use::install, sink_);
  ASSERT_TRUE(place);
  auto journal = Journal::open(*place, sink_);
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->begin("dev/lab", "sample", "/b.yaml", "/fleet", "", sink_));
  ASSERT_TRUE(journal->begin_attempt(1, sink_));
  ASSERT_TRUE(journal->intend("make", sink_));
  ASSERT_TRUE(journal->started("make", {42, "1000"}, 7, sink_));
  ASSERT_TRUE(journal->result("make", Outcome::failed, 4, "network", "discard", sink_));
  ASSERT_TRUE(journal->identify({{"name", "lab-1"}}, sink_));
  ASSERT_TRUE(journal->identify({{"name", "lab-1"}}, sink_));
  EXPECT_FALSE(journal->identify({{"name", "lab-2"}}, sink_));
  EXPECT_EQ(first_code(), kIdentityChanged);
  const auto again = Journal::open(*place, sink_);
  ASSERT_TRUE(again);
  const StepStory& step = again->story().step("make");
  EXPECT_EQ(step.outcome, Outcome::failed);
  EXPECT_EQ(step.process.id, 42);
  EXPECT_EQ(step.log_offset, 7);
  EXPECT_EQ(step.exit, 4);
  EXPECT_EQ(step.phase, "network");
  EXPECT_EQ(step.resume, "discard");
  EXPECT_EQ(again->story().identity.at("name"), "lab-1");
  ASSERT_TRUE(journal->discard(sink_));
  EXPECT_TRUE(journal->story().discarding);
  ASSERT_TRUE(journal->begin_attempt(2, sink_));
  EXPECT_EQ(journal->story().attempt, 2U);
  EXPECT_EQ(journal->story().step("make").outcome, Outcome::none);
  EXPECT_TRUE(journal->story().identity.empty());
}

TEST_F(PlaceTest, KnowsWhatItsAttemptMade) {
  auto place = Place::open(root_, Place::Use::install, sink_);
  ASSERT_TRUE(place);
  auto journal = Journal::open(*place, sink_);
  ASSERT_TRUE(journal && journal->begin_attempt(1, sink_));
  ASSERT_TRUE(journal->making("pool `a`", sink_));
  ASSERT_TRUE(journal->making("pool `b`", sink_));
  ASSERT_TRUE(journal->making("pool `b`", sink_));
  ASSERT_TRUE(journal->adopted("pool `a`", sink_));
  ASSERT_TRUE(journal->adopted("pool `c`", sink_));
  const auto again = Journal::open(*place, sink_);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->story().made, std::set<std::string>{"pool `b`"});
  EXPECT_EQ(place->lines(sink_)->size(), 4U);  // what is known is not written again
  ASSERT_TRUE(journal->begin_attempt(2, sink_));
  EXPECT_TRUE(journal->story().made.empty());
}

}  // namespace
}  // namespace gpuctl::install
