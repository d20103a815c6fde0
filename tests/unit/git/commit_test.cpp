
#include <algorithm>
#include <random>

#include "fixture.hpp"

namespace gpuctl::git {
namespace {

namespace fs = std::filesystem;
using test::put;
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
  diag::Sink directory;
  EXPECT_EQ(repository.read(second, "a/b", directory), std::nullopt);
  EXPECT_TRUE(has(directory, kUnsafePath, "is a directory")) << codes(directory);
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

TEST_F(CommitTest, KnowsWhenADirectoryWasChanged) {
  if (!have_git()) GTEST_SKIP() << "no git";
  Repository repository = make("repo.git");
  const auto at = [&](const std::vector<std::string>& words, const char* date) {
    ::setenv("GIT_COMMITTER_DATE", date, 1);
    std::vector<std::string> all = {"-c", "user.name=a", "-c", "user.email=a@b", "commit-tree"};
    all.insert(all.end(), words.begin(), words.end());
    std::string id = git(all, "repo.git").output;
    ::unsetenv("GIT_COMMITTER_DATE");
    if (!id.empty()) id.pop_back();
    return id;
  };
  const std::string one = commit(repository, {{"a/x", "1"}, {"b/x", "1"}});
  const std::string two = commit(repository, {{"a/x", "2"}});
  const std::string first = at({one + "^{tree}", "-m", "1"}, "@1000 +0000");
  const std::string second = at({two + "^{tree}", "-p", first, "-m", "2"}, "@2000 +0000");
  const std::string other = at({one + "^{tree}", "-p", first, "-m", "3"}, "@3000 +0000");
  const std::string merged =
      at({two + "^{tree}", "-p", other, "-p", second, "-m", "4"}, "@4000 +0000");
  EXPECT_EQ(repository.changed_at(merged, "b"), 1000);
  EXPECT_EQ(repository.changed_at(merged, "a"), 2000);
  EXPECT_EQ(repository.changed_at(other, "a"), 1000);
  EXPECT_EQ(repository.changed_at(merged, "c"), std::nullopt);
  EXPECT_EQ(repository.changed_at("no id", "a"), std::nullopt);
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
  EXPECT_TRUE(has(sink, kUnsafePath, "cannot be beside")) << codes(sink);
}

TEST_F(CommitTest, ABranchThatIsAnotherNameIsRefused) {
  Repository repository = make("repo.git");
  commit(repository, {{"a", "1"}});
  put(scratch_ / "repo.git/refs/heads/alias", "ref: refs/heads/main\n");
  diag::Sink sink;
  EXPECT_EQ(repository.commit({"alias", "", "X", {{"a", "2"}}}, sink).status, CommitStatus::failed);
  EXPECT_TRUE(has(sink, kUnsupportedRepository, "refs/heads/main")) << codes(sink);
}

TEST_F(CommitTest, StartsANewBranchWhereItIsTold) {
  Repository repository = make();
  const std::string first = commit(repository, {{"a", "1"}, {"b", "1"}});
  diag::Sink sink;
  EXPECT_EQ(repository.resolve("HEAD"), first);
  const CommitResult made = repository.commit({"side", "", "Side", {{"b", "2"}}, first}, sink);
  ASSERT_EQ(made.status, CommitStatus::committed) << codes(sink);
  EXPECT_EQ(content(repository, made.id), (Files{{"a", "1"}, {"b", "2"}}));
  EXPECT_TRUE(repository.contains(made.id, first));
  EXPECT_FALSE(repository.contains(first, made.id));
  EXPECT_EQ(repository.tip("main", sink), first);
  // No change makes no branch, and a branch that is there by now is not gone over.
  EXPECT_EQ(repository.commit({"third", "", "m", {{"b", "1"}}, first}, sink).status,
            CommitStatus::unchanged);
  EXPECT_EQ(repository.tip("third", sink), "");
  EXPECT_EQ(repository.commit({"side", "", "m", {{"b", "3"}}, first}, sink).status,
            CommitStatus::moved);
  expect_sound();
}

TEST_F(CommitTest, MakesWayForABranch) {
  Repository repository = make("repo.git");
  const std::string first = commit(repository, {{"a", "1"}});
  diag::Sink sink;
  for (const char* branch : {"x", "y/z", "y/w/v"}) {
    EXPECT_EQ(repository.commit({branch, "", "m", {{"a", branch}}, first}, sink).status,
              CommitStatus::committed);
  }
  EXPECT_TRUE(repository.make_way("x/deep", false, sink));
  EXPECT_TRUE(repository.make_way("y", false, sink));
  EXPECT_TRUE(repository.make_way("main", false, sink));
  EXPECT_EQ(repository.tip("x", sink) + repository.tip("y/z", sink) + repository.tip("y/w/v", sink),
            "");
  EXPECT_EQ(repository.tip("main", sink), first);
  const std::string second = commit(repository, {{"a", "2"}});
  EXPECT_TRUE(repository.put_back("main", first));
  EXPECT_EQ(repository.tip("main", sink), first);
  EXPECT_TRUE(repository.put_back("main", second));
  EXPECT_TRUE(repository.put_back("main", ""));
  EXPECT_EQ(repository.tip("main", sink), "");
  EXPECT_FALSE(repository.put_back("main", std::string(40, '1')));
  EXPECT_TRUE(repository.put_back("main", second));
  EXPECT_TRUE(repository.make_way("main", true, sink));
  EXPECT_EQ(repository.resolve("refs/heads/main"), "");
  EXPECT_TRUE(sink.empty()) << codes(sink);
}

}  // namespace
}  // namespace gpuctl::git
