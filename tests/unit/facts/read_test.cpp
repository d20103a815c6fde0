#include "facts/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "facts/codes.hpp"
#include "facts/facts_file.hpp"
#include "facts/inquiry.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::facts {
namespace {

using testing::ElementsAre;

class ReadTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "gpuctl-facts-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
    return root_ / name;
  }
  std::vector<Source> read(const std::string& path, const std::vector<std::string>& patterns = {}) {
    return read_source(path, patterns, [](diag::FileId, diag::Sources&) {},
                       {sources_, arena_, sink_});
  }
  std::string first_code() const { return sink_.all().empty() ? "" : sink_.all().front().code; }

  std::filesystem::path root_;
  diag::Sources sources_;
  yaml::Arena arena_;
  diag::Sink sink_;
};

TEST_F(ReadTest, ListsAreTakenApart) {
  const auto read_ = read(write("a.yaml",
                                "kind: SetList\nitems:\n- {kind: Set, n: 1}\n- kind: List\n"
                                "  items: [{kind: Set, n: 2}]\n---\nkind: Other\n---\n"));
  ASSERT_EQ(read_.size(), 1U);
  ASSERT_EQ(read_[0].documents.size(), 3U);
  EXPECT_EQ(read_[0].documents[1].tree.get("n").as_integer(), 2);
  EXPECT_EQ(read_[0].documents[0].place, (root_ / "a.yaml").string() + ":3:3");
  EXPECT_TRUE(sink_.empty());
}

TEST_F(ReadTest, TakesJsonThatYamlDoesNot) {
  const auto read_ = read(write("a.json", "{\n\t\"a\":\t1\n}\n"));
  ASSERT_EQ(read_.size(), 1U);
  ASSERT_EQ(read_[0].documents.size(), 1U);
  EXPECT_EQ(read_[0].documents[0].tree.get("a").as_integer(), 1);
}

TEST_F(ReadTest, ShowsNothingOfWhatItCannotRead) {
  read(write("a.json", "{\"password\": \"SECRET-TEXT\", \"cut"));
  ASSERT_EQ(first_code(), kUnreadableSource);
  const diag::Diagnostic& error = sink_.all().front();
  for (const std::string& text : error.notes) EXPECT_EQ(text.find("SECRET"), std::string::npos);
  EXPECT_EQ(error.message.find("SECRET"), std::string::npos);
  EXPECT_EQ(sources_.without_hidden(0, 0, sources_.file_text(0)).find("SECRET"), std::string::npos);
}

TEST_F(ReadTest, DirectoriesHaveFilesByPattern) {
  write("d/openshift/set-1.yaml", "kind: A");
  write("d/openshift/set-0.yaml", "kind: A");
  write("d/other.yaml", "kind: A");
  const auto read_ = read(root_ / "d", {"openshift/set-*.yaml", "absent.json"});
  ASSERT_EQ(read_.size(), 2U);
  EXPECT_TRUE(read_[0].path.ends_with("set-0.yaml"));
  EXPECT_EQ(read_[1].name, (root_ / "d").string());
  EXPECT_EQ(find_file(root_ / "d", "openshift/*"), (root_ / "d/openshift/set-0.yaml").string());
  read(root_ / "d", {"absent.json"});
  EXPECT_EQ(first_code(), kUnknownSource);
}

TEST_F(ReadTest, AbsentFile) {
  read(root_ / "absent");
  EXPECT_EQ(first_code(), kUnreadableSource);
}

TEST(Leaves, ThereAndBack) {
  yaml::Arena arena;
  yaml::MapBuilder inner;
  inner.set(arena, "a.b", yaml::Node::view("x"));
  yaml::MapBuilder outer;
  outer.set(arena, "m", inner.build(arena));
  outer.set(arena, "empty", arena.map(std::span<const yaml::Entry>()));
  outer.set(arena, "n", yaml::Node::integer(1));
  const yaml::Node tree = outer.build(arena);
  const auto leaves = leaves_of(tree);
  ASSERT_EQ(leaves.size(), 3U);
  EXPECT_TRUE(yaml::equal(tree_of(leaves, arena), tree));
  std::vector<std::string> names;
  for (const auto& [path, value] : leaves) names.push_back(text_of(path));
  EXPECT_THAT(names, ElementsAre("empty", "m[\"a.b\"]", "n"));
}

TEST(Leaves, NoFacts) {
  EXPECT_TRUE(leaves_of(yaml::Node()).empty());
  yaml::Arena arena;
  EXPECT_TRUE(leaves_of(arena.map(std::span<const yaml::Entry>())).empty());
}

}  // namespace
}  // namespace gpuctl::facts
