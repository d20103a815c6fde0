#include "git/new_objects.hpp"

#include <sys/stat.h>

#include <thread>

#include "fixture.hpp"

namespace gpuctl::git {
namespace {

namespace fs = std::filesystem;

class NewObjectsTest : public CommitTest {
 protected:
  std::vector<std::string> packs() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(scratch_ / "repo.git/objects/pack")) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

// Names that sort differently as files and as directories, an empty file, one that does not shrink
// and one over every buffer.
Files files() {
  std::string noise;
  for (unsigned i = 0; i < 3'000'000; ++i) noise += static_cast<char>(i * 2654435761U >> 24U);
  return {{"a", "1"},       {"a-b", "2"},   {"a.b/c", "3"},   {"a0", ""},      {"b/a", noise},
          {"b/c/d/e", "x"}, {"b.txt", "y"}, {"b-/z", "same"}, {"c/z", "same"}, {"c0/z", "same"}};
}

TEST_F(NewObjectsTest, MakeTheTreesOfAnOrdinaryCommit) {
  Repository repository = make("repo.git");
  std::vector<Change> plain;
  for (const auto& [path, content] : files()) plain.push_back({"one/" + path, content});
  commit(repository, std::move(plain));
  diag::Sink sink;
  std::optional<NewObjects> objects = repository.new_objects(sink);
  ASSERT_TRUE(objects) << codes(sink);
  const std::string tree = objects->add_directory(files());
  const std::string blob = objects->add_blob("alone");
  EXPECT_EQ(blob, Repository::blob_id("alone"));
  ASSERT_TRUE(objects->finish(sink)) << codes(sink);
  const std::string id = commit(repository, {{.path = "two", .stored = tree, .directory = true},
                                             {.path = "deep/er/file", .stored = blob},
                                             {.path = "one/a", .stored = blob}});
  EXPECT_EQ(repository.tree_id(id, "two", sink), tree);
  Files all = content(repository, id);
  EXPECT_EQ(all.at("deep/er/file"), "alone");
  EXPECT_EQ(all.at("one/a"), "alone");
  for (const auto& [path, text] : files()) EXPECT_EQ(all.at("two/" + path), text);
  EXPECT_NE(repository.tree_id(id, "one", sink), tree);
  commit(repository, {{"one/a", "1"}});
  EXPECT_EQ(repository.tree_id(repository.tip("main", sink), "one", sink), tree);
  EXPECT_TRUE(sink.empty()) << codes(sink);
  expect_sound("repo.git");
}

TEST_F(NewObjectsTest, TakeObjectsOfSeveralThreads) {
  Repository repository = make("repo.git");
  diag::Sink sink;
  std::optional<NewObjects> objects = repository.new_objects(sink);
  ASSERT_TRUE(objects) << codes(sink);
  std::array<std::vector<Change>, 4> changes;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < changes.size(); ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 300; ++i) {
          const std::string text = "number " + std::to_string(i);  // the same in all threads
          changes[thread].push_back({.path = std::to_string(thread) + "/" + std::to_string(i),
                                     .stored = objects->add_blob(text)});
        }
      });
    }
  }
  ASSERT_TRUE(objects->finish(sink)) << codes(sink);
  std::vector<Change> all;
  for (auto& some : changes) std::move(some.begin(), some.end(), std::back_inserter(all));
  const std::string id = commit(repository, std::move(all));
  EXPECT_EQ(content(repository, id).size(), 1200U);
  expect_sound("repo.git");
}

TEST_F(NewObjectsTest, LeaveNothingBehindUnlessWanted) {
  Repository repository = make("repo.git");
  diag::Sink sink;
  {
    std::optional<NewObjects> dropped = repository.new_objects(sink);
    ASSERT_TRUE(dropped);
    dropped->add_blob("never seen");
    EXPECT_EQ(packs().size(), 1U);
  }
  EXPECT_TRUE(packs().empty());
  std::optional<NewObjects> objects = repository.new_objects(sink);
  ASSERT_TRUE(objects);
  objects->add_blob("seen for a while");
  ASSERT_TRUE(objects->finish(sink)) << codes(sink);
  EXPECT_EQ(packs().size(), 2U);
  objects->take_back();
  EXPECT_TRUE(packs().empty());
}

TEST_F(NewObjectsTest, ReportADirectoryThatCannotBeWritten) {
  diag::Sink sink;
  EXPECT_FALSE(NewObjects::start(scratch_ / "nowhere/objects", sink));
  EXPECT_TRUE(has(sink, kCannotWrite)) << codes(sink);
}

TEST_F(NewObjectsTest, ADirectoryThatIsThereIsInTheWay) {
  Repository repository = make("repo.git");
  const std::string tip = commit(repository, {{"two/file", "x"}});
  diag::Sink sink;
  std::optional<NewObjects> objects = repository.new_objects(sink);
  ASSERT_TRUE(objects);
  const std::string tree = objects->add_directory({{"f", "y"}});
  ASSERT_TRUE(objects->finish(sink));
  const CommitResult made = repository.commit(
      {"main", tip, "Change\n", {{.path = "two", .stored = tree, .directory = true}}}, sink);
  EXPECT_EQ(static_cast<int>(made.status), static_cast<int>(CommitStatus::failed));
  EXPECT_TRUE(sink.has_errors());
}

}  // namespace
}  // namespace gpuctl::git
