#include "base/output_tree.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/new_directory.hpp"
#include "scratch.hpp"

namespace gpuctl::base {
namespace {

namespace fs = std::filesystem;
using test::get;
using test::put;
using test::Scratch;

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

unsigned mode_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0U;
}

ino_t inode_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

/// All tests run with openat2 and with the walk that replaces it on old kernels.
class OutputTreeTest : public testing::TestWithParam<bool> {
 protected:
  OutputTree open(OutputOptions options = {}) {
    return open_at(scratch_ / "root", std::move(options));
  }
  OutputTree open_at(const std::string& root, OutputOptions options = {}) {
    options.use_openat2 = GetParam();
    auto opened = OutputTree::open(root, options);
    if (auto* error = std::get_if<FileError>(&opened)) {
      ADD_FAILURE() << error->path << ": " << error->text;
    }
    return std::move(std::get<OutputTree>(opened));
  }
  std::string at(const std::string& path) const { return scratch_ / ("root/" + path); }

  Scratch scratch_;
  Umask umask_{022};
};

std::string text(const std::optional<FileError>& error) {
  return error ? error->path + " " + error->text : "";
}

TEST_P(OutputTreeTest, WritesFilesAndDirectories) {
  OutputTree tree = open_at(scratch_ / "new/deep/root");
  EXPECT_EQ(text(tree.write("a/b/c.yaml", "one\n")), "");
  EXPECT_EQ(text(tree.write("a/b/d.sh", "two\n", FileMode::executable)), "");
  EXPECT_EQ(text(tree.write("top", "")), "");
  const std::string root = scratch_ / "new/deep/root/";
  EXPECT_EQ(get(root + "a/b/c.yaml"), "one\n");
  EXPECT_EQ(get(root + "a/b/d.sh"), "two\n");
  EXPECT_EQ(get(root + "top"), "");
  EXPECT_EQ(mode_of(root + "a/b/c.yaml"), 0644U);
  EXPECT_EQ(mode_of(root + "a/b/d.sh"), 0755U);
  EXPECT_EQ(mode_of(root + "a/b"), 0755U);
  EXPECT_EQ(tree.written(), 3U);
  // Nothing temporary stays.
  EXPECT_EQ(std::get<0>(list_directory(root + "a/b")),
            (std::vector<std::string>{"c.yaml", "d.sh"}));
}

TEST_P(OutputTreeTest, LeavesEqualFilesAlone) {
  OutputTree tree = open();
  ASSERT_EQ(text(tree.write("d/f", "same")), "");
  const ino_t before = inode_of(at("d/f"));
  ASSERT_EQ(text(tree.write("d/f", "same")), "");
  EXPECT_EQ(inode_of(at("d/f")), before);
  EXPECT_EQ(tree.unchanged(), 1U);
  ASSERT_EQ(text(tree.write("d/f", "diff")), "");
  EXPECT_EQ(get(at("d/f")), "diff");
  ASSERT_EQ(text(tree.write("d/f", "diff", FileMode::executable)), "");
  EXPECT_EQ(mode_of(at("d/f")), 0755U);
  EXPECT_EQ(tree.written(), 3U);
}

TEST_P(OutputTreeTest, ObeysTheUmask) {
  const Umask strict(077);
  OutputTree tree = open();
  ASSERT_EQ(text(tree.write("d/f", "x")), "");
  EXPECT_EQ(mode_of(at("d/f")), 0600U);
  EXPECT_EQ(mode_of(at("d")), 0700U);
}

TEST_P(OutputTreeTest, SecretIsPrivateWhateverTheUmask) {
  for (const mode_t mask : {0U, 022U, 0777U}) {
    const Umask own(mask);
    OutputTree tree = open_at(scratch_ / ("secret" + std::to_string(mask)), {.secret = true});
    ASSERT_EQ(text(tree.write("d/e/f", "x")), "");
    const std::string root = scratch_ / ("secret" + std::to_string(mask));
    EXPECT_EQ(mode_of(root), 0700U);
    EXPECT_EQ(mode_of(root + "/d"), 0700U);
    EXPECT_EQ(mode_of(root + "/d/e"), 0700U);
    EXPECT_EQ(mode_of(root + "/d/e/f"), 0600U);
  }
}

TEST_P(OutputTreeTest, SecretTightensAnOpenFileAndRefusesAnOpenRoot) {
  fs::create_directory(scratch_ / "root");
  const auto refused = OutputTree::open(scratch_ / "root", {.secret = true});
  ASSERT_TRUE(std::holds_alternative<FileError>(refused));
  EXPECT_NE(std::get<FileError>(refused).text.find("0700"), std::string::npos);
  ASSERT_EQ(::chmod((scratch_ / "root").c_str(), 0700), 0);
  put(at("f"), "x");
  ASSERT_EQ(mode_of(at("f")), 0644U);
  OutputTree tree = open({.secret = true});
  ASSERT_EQ(text(tree.write("f", "x")), "");
  EXPECT_EQ(mode_of(at("f")), 0600U);
}

TEST_P(OutputTreeTest, NeverFollowsLinks) {
  fs::create_directory(scratch_ / "outside");
  put(scratch_ / "outside/kept", "kept");
  OutputTree tree = open();
  ASSERT_EQ(text(tree.write("real/x", "x")), "");
  fs::create_directory_symlink(scratch_ / "outside", at("absolute"));
  fs::create_directory_symlink("../outside", at("relative"));
  fs::create_directory_symlink("real", at("inside"));  // even a link that stays inside
  fs::create_directory_symlink("nowhere", at("dangling"));
  fs::create_directory_symlink("loop", at("loop"));
  fs::create_symlink(scratch_ / "outside/kept", at("file"));
  for (const std::string path : {"absolute/new", "relative/new", "inside/new", "dangling/new",
                                 "loop/new", "absolute/sub/new", "file/new"}) {
    EXPECT_NE(text(tree.write(path, "bad")), "") << path;
    EXPECT_NE(text(tree.remove(path)), "") << path;
    EXPECT_EQ(std::get<0>(tree.look(path, 10)).kind, OutputTree::Seen::Kind::other) << path;
  }
  for (const std::string path : {"file", "absolute", "dangling", "loop"}) {
    EXPECT_EQ(text(tree.write(path, "bad")), path + " is a symbolic link");
    EXPECT_EQ(text(tree.remove(path)), path + " is a symbolic link");
    EXPECT_EQ(std::get<0>(tree.look(path, 10)).kind, OutputTree::Seen::Kind::other) << path;
  }
  EXPECT_NE(text(tree.remove("absolute/kept")), "");
  EXPECT_EQ(get(scratch_ / "outside/kept"), "kept");
  EXPECT_EQ(std::get<0>(list_directory(scratch_ / "outside")).size(), 1U);
  EXPECT_EQ(std::get<0>(list_directory(at("real"))).size(), 1U);
}

TEST_P(OutputTreeTest, RefusesBadPathsAndSpecialFiles) {
  OutputTree tree = open();
  for (const std::string path : {"", "/abs", "..", "../x", "a/../../x", ".git/config", "a//b"}) {
    EXPECT_NE(text(tree.write(path, "bad")), "") << path;
    EXPECT_NE(text(tree.remove(path)), "") << path;
  }
  EXPECT_FALSE(fs::exists(scratch_ / "root"));  // nothing came of it, not even the root
  fs::create_directories(at("dir"));
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(text(tree.write("dir", "x")), "dir is a directory");
  EXPECT_EQ(text(tree.write("fifo", "x")), "fifo is not a regular file");
  EXPECT_EQ(text(tree.remove("dir")), "dir is a directory");
  ASSERT_EQ(text(tree.write("file", "x")), "");
  EXPECT_NE(text(tree.write("file/below", "x")), "");
  EXPECT_EQ(get(at("file")), "x");
}

TEST_P(OutputTreeTest, RemovesFilesAndEmptyDirectories) {
  OutputTree tree = open();
  for (const char* path : {"a/b/c/one", "a/b/two", "a/keep"}) {
    ASSERT_EQ(text(tree.write(path, "x")), "");
  }
  EXPECT_EQ(text(tree.remove("a/b/c/one")), "");
  EXPECT_FALSE(fs::exists(at("a/b/c")));
  EXPECT_EQ(text(tree.remove("a/b/two")), "");
  EXPECT_FALSE(fs::exists(at("a/b")));
  EXPECT_TRUE(fs::exists(at("a/keep")));
  EXPECT_EQ(text(tree.remove("a/keep")), "");
  EXPECT_EQ(text(tree.remove("a/keep")), "");
  EXPECT_EQ(text(tree.remove("never/was")), "");
  EXPECT_TRUE(fs::exists(scratch_ / "root"));
  // A directory that was removed can be written again.
  EXPECT_EQ(text(tree.write("a/b/two", "y")), "");
  EXPECT_EQ(get(at("a/b/two")), "y");
}

TEST_P(OutputTreeTest, StagedFilesAppearTogether) {
  OutputTree tree = open();
  ASSERT_EQ(text(tree.write("old/changed", "1")), "");
  ASSERT_EQ(text(tree.write("gone/away", "1")), "");
  ASSERT_EQ(text(tree.stage("new/deep/file", "2")), "");
  ASSERT_EQ(text(tree.stage("old/changed", "2")), "");
  ASSERT_EQ(text(tree.stage_removal("gone/away")), "");
  EXPECT_EQ(get(at("old/changed")), "1");
  EXPECT_FALSE(fs::exists(at("new/deep/file")));
  EXPECT_TRUE(fs::exists(at("gone/away")));
  ASSERT_EQ(text(tree.publish()), "");
  EXPECT_EQ(get(at("old/changed")), "2");
  EXPECT_EQ(get(at("new/deep/file")), "2");
  EXPECT_FALSE(fs::exists(at("gone/away")));
  ASSERT_EQ(text(tree.keep()), "");
  EXPECT_EQ(std::get<0>(list_directory(at(""))), (std::vector<std::string>{"new", "old"}));
  EXPECT_EQ(std::get<0>(list_directory(at("old"))), (std::vector<std::string>{"changed"}));
  EXPECT_EQ(tree.written(), 4U);
}

TEST_P(OutputTreeTest, DiscardBringsEverythingBack) {
  OutputTree tree = open_at(scratch_ / "up/root");
  const std::string root = scratch_ / "up/root/";
  ASSERT_EQ(text(tree.stage("a/b", "x")), "");
  tree.discard();
  EXPECT_FALSE(fs::exists(scratch_ / "up"));
  ASSERT_EQ(text(tree.write("keep", "1")), "");
  ASSERT_EQ(text(tree.write("gone", "1")), "");
  const ino_t before = inode_of(root + "keep");
  for (const bool published : {false, true}) {
    ASSERT_EQ(text(tree.stage("keep", "2")), "");
    ASSERT_EQ(text(tree.stage("new/file", "2")), "");
    ASSERT_EQ(text(tree.stage_removal("gone")), "");
    if (published) {
      ASSERT_EQ(text(tree.publish()), "");
    }
    tree.discard();
    EXPECT_EQ(inode_of(root + "keep"), before);
    EXPECT_EQ(get(root + "keep") + get(root + "gone"), "11");
    EXPECT_EQ(std::get<0>(list_directory(root)), (std::vector<std::string>{"gone", "keep"}));
  }
  EXPECT_EQ(tree.written(), 2U);
}

TEST_P(OutputTreeTest, AFailureTakesBackWhatWentBefore) {
  OutputTree tree = open();
  ASSERT_EQ(text(tree.write("a", "1")), "");
  ASSERT_EQ(text(tree.write("d/b", "1")), "");
  // At the second file, once while it is staged and once when somebody interferes in between.
  ASSERT_EQ(text(tree.stage("a", "2")), "");
  EXPECT_EQ(text(tree.stage("d/b/c", "2")), "d/b/c Not a directory");
  ASSERT_EQ(text(tree.publish()), "");
  EXPECT_EQ(get(at("a")), "1");
  ASSERT_EQ(text(tree.stage("a", "2")), "");
  ASSERT_EQ(text(tree.stage("d/b", "2")), "");
  fs::remove(at("d/b"));
  fs::create_symlink(at("a"), at("d/b"));
  EXPECT_EQ(text(tree.publish()), "d/b is a symbolic link");
  EXPECT_EQ(get(at("a")), "1");
  EXPECT_EQ(std::get<0>(list_directory(at("d"))), (std::vector<std::string>{"b"}));
  EXPECT_EQ(std::get<0>(list_directory(at(""))), (std::vector<std::string>{"a", "d"}));
}

TEST_P(OutputTreeTest, TheRootAppearsWithItsFirstFile) {
  OutputTree tree = open_at(scratch_ / "up/root");
  EXPECT_EQ(std::get<OutputTree::Seen>(tree.look("a/b", 100)).kind, OutputTree::Seen::Kind::absent);
  EXPECT_EQ(text(tree.remove("a/b")), "");
  EXPECT_FALSE(fs::exists(scratch_ / "up"));
  fs::create_symlink("nowhere", scratch_ / "link");
  const auto dangling = OutputTree::open(scratch_ / "link");
  EXPECT_EQ(std::get<FileError>(dangling).text, "is a symbolic link to nowhere");
  OutputTree below = open_at(scratch_ / "link/root");
  EXPECT_EQ(text(below.write("x", "1")), scratch_ / "link is a symbolic link to nowhere");
  put(scratch_ / "file", "x");
  EXPECT_EQ(std::get<FileError>(OutputTree::open(scratch_ / "file/root")).code, ENOTDIR);
}

TEST_P(OutputTreeTest, LooksAtFiles) {
  OutputTree tree = open();
  ASSERT_EQ(text(tree.write("d/f", "text", FileMode::executable)), "");
  const auto seen = std::get<OutputTree::Seen>(tree.look("d/f", 100));
  EXPECT_EQ(seen.kind, OutputTree::Seen::Kind::file);
  EXPECT_EQ(seen.content, "text");
  EXPECT_EQ(seen.mode, FileMode::executable);
  EXPECT_EQ(std::get<0>(tree.look("d/g", 100)).kind, OutputTree::Seen::Kind::absent);
  EXPECT_EQ(std::get<0>(tree.look("e/g", 100)).kind, OutputTree::Seen::Kind::absent);
  EXPECT_EQ(std::get<0>(tree.look("d", 100)).kind, OutputTree::Seen::Kind::other);
  EXPECT_EQ(std::get<FileError>(tree.look("d/f", 3)).code, EFBIG);
}

TEST_P(OutputTreeTest, SyncsWhenAsked) {
  OutputTree tree = open({.sync = true});
  EXPECT_EQ(text(tree.write("d/e/f", "x")), "");
  EXPECT_EQ(text(tree.write("d/e/f", "y")), "");
  EXPECT_EQ(get(at("d/e/f")), "y");
  EXPECT_EQ(text(tree.remove("d/e/f")), "");
  EXPECT_FALSE(fs::exists(at("d")));
}

TEST_P(OutputTreeTest, LeavesNothingBehindWhenTheDiskRefuses) {
  OutputTree tree = open();
  ASSERT_EQ(text(tree.write("d/f", "old")), "");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto error = tree.write("d/f", std::string(100000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, EFBIG);
  EXPECT_EQ(get(at("d/f")), "old");
  EXPECT_EQ(std::get<0>(list_directory(at("d"))).size(), 1U);
}

TEST_P(OutputTreeTest, ARaceWithLinksWritesNothingOutside) {
  fs::create_directory(scratch_ / "outside");
  OutputTree tree = open();
  std::atomic<bool> stop = false;
  std::thread attacker([&] {
    const std::string link = at("d");
    while (!stop) {
      std::error_code ignored;
      fs::remove_all(link, ignored);
      if (::symlink((scratch_ / "outside").c_str(), link.c_str()) != 0) continue;
      ::unlink(link.c_str());
      ::mkdir(link.c_str(), 0755);
    }
  });
  int done = 0;
  for (int i = 0; i < 1000; ++i) {
    // The other file makes the tree forget the open directory and resolve it again.
    if (!tree.write("d/f", std::to_string(i))) ++done;
    (void)tree.write("e/f", std::to_string(i));
    (void)tree.remove("d/f");
  }
  stop = true;
  attacker.join();
  EXPECT_TRUE(std::get<0>(list_directory(scratch_ / "outside")).empty());
  EXPECT_GT(done, 0);
}

TEST_P(OutputTreeTest, ReadersSeeOldOrNewContent) {
  OutputTree tree = open();
  const std::string a(100000, 'a');
  const std::string b(100000, 'b');
  ASSERT_EQ(text(tree.write("f", a)), "");
  std::atomic<bool> stop = false;
  std::atomic<int> torn = 0;
  std::thread reader([&] {
    while (!stop) {
      const std::string now = get(at("f"));
      if (now != a && now != b) ++torn;
    }
  });
  for (int i = 0; i < 200; ++i) EXPECT_EQ(text(tree.write("f", i % 2 == 0 ? b : a)), "");
  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0);
}

const std::map<std::string, std::string> kWhole = {
    {"a", "1"}, {"b/c", "2"}, {"b/d/e", "3"}, {"b-x", "4"}, {"b0", "5"}};

TEST_P(OutputTreeTest, AWholeDirectoryAppearsAtOnce) {
  OutputTree tree = open();
  {
    const auto place = tree.reserve("c/x", kWhole.size());
    const auto* reserved = std::get_if<std::optional<OutputTree::Reserved>>(&place);
    ASSERT_TRUE(reserved != nullptr && reserved->has_value());
    ASSERT_EQ(text(write_directory((*reserved)->parent.get(), (*reserved)->name, kWhole)), "");
  }
  EXPECT_FALSE(fs::exists(at("c/x")));
  ASSERT_EQ(text(tree.publish()), "");
  ASSERT_EQ(text(tree.keep()), "");
  for (const auto& [path, content] : kWhole) EXPECT_EQ(get(at("c/x/" + path)), content);
  EXPECT_EQ(std::get<0>(list_directory(at("c"))).size(), 1U);
  EXPECT_EQ(tree.written(), kWhole.size());
  // Something stands there now: file by file, please.
  const auto again = tree.reserve("c/x", 1);
  EXPECT_FALSE(std::get<0>(again).has_value());
}

TEST_P(OutputTreeTest, AWholeDirectoryIsTakenBack) {
  for (const bool published : {false, true}) {
    OutputTree tree = open();
    {
      const auto place = tree.reserve("c/x", kWhole.size());
      const auto& reserved = std::get<0>(place);
      ASSERT_EQ(text(write_directory(reserved->parent.get(), reserved->name, kWhole)), "");
    }
    if (published) {
      ASSERT_EQ(text(tree.publish()), "");
    }
    tree.discard();
    EXPECT_FALSE(fs::exists(scratch_ / "root"));
    EXPECT_EQ(tree.written(), 0U);
  }
}

TEST_P(OutputTreeTest, AWholeDirectoryReplacesNothing) {
  OutputTree tree = open();
  {
    const auto place = tree.reserve("c/x", 1);
    const auto& reserved = std::get<0>(place);
    ASSERT_EQ(text(write_directory(reserved->parent.get(), reserved->name, {{"a", "1"}})), "");
  }
  put(at("c/x/mine"), "mine");
  EXPECT_NE(text(tree.publish()), "");
  EXPECT_EQ(get(at("c/x/mine")), "mine");
  EXPECT_EQ(std::get<0>(list_directory(at("c"))).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Openat2AndWalk, OutputTreeTest, testing::Bool(),
                         [](const auto& each) { return each.param ? "openat2" : "walk"; });

}  // namespace
}  // namespace gpuctl::base
