#include "base/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <filesystem>

#include "scratch.hpp"

namespace gpuctl::base {
namespace {

using test::put;
using test::Scratch;

FileError error_of(const std::variant<std::string, FileError>& result) {
  const auto* error = std::get_if<FileError>(&result);
  return error == nullptr ? FileError{"", -1, "no error"} : *error;
}

TEST(ReadFile, GivesTheContent) {
  const Scratch scratch;
  const std::string content("a\0b\n", 4);
  put(scratch / "f", content);
  EXPECT_EQ(std::get<std::string>(read_file(scratch / "f", 4)), content);
  put(scratch / "empty", "");
  EXPECT_EQ(std::get<std::string>(read_file(scratch / "empty", 0)), "");
}

TEST(ReadFile, RefusesWhatIsTooBig) {
  const Scratch scratch;
  put(scratch / "f", "12345");
  const FileError error = error_of(read_file(scratch / "f", 4));
  EXPECT_EQ(error.code, EFBIG);
  EXPECT_EQ(error.text, "is over 4 bytes");
  // A size of 0 in the directory entry is no reason to read without end. (A bare root may have no
  // /proc.)
  if (std::filesystem::exists("/proc/self/maps")) {
    EXPECT_EQ(error_of(read_file("/proc/self/maps", 16)).code, EFBIG);
  }
}

TEST(ReadFile, RefusesWhatIsNoFile) {
  const Scratch scratch;
  EXPECT_EQ(error_of(read_file(scratch / "absent", 10)).code, ENOENT);
  EXPECT_EQ(error_of(read_file(scratch / "absent", 10)).path, scratch / "absent");
  EXPECT_EQ(error_of(read_file(scratch.path().string(), 10)).code, EISDIR);
  ASSERT_EQ(::mkfifo((scratch / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(error_of(read_file(scratch / "fifo", 10)).text, "is not a regular file");
  EXPECT_EQ(error_of(read_file("/dev/zero", 10)).text, "is not a regular file");
  EXPECT_EQ(error_of(read_file(std::string("a\0b", 3), 10)).code, EINVAL);
}

TEST(ReadFileBeneath, StaysBelowItsDirectory) {
  const Scratch scratch;
  put(scratch / "in/a", "a");
  put(scratch / "in/sub/b", "b");
  put(scratch / "out", "out");
  std::filesystem::create_symlink("sub/b", scratch / "in/inside");
  std::filesystem::create_symlink("../out", scratch / "in/outside");
  std::filesystem::create_symlink(scratch / "in/a", scratch / "in/absolute");
  std::filesystem::create_symlink("nowhere", scratch / "in/dangling");
  const auto content = [&](const std::string& path) -> std::string {
    const auto read = read_file_beneath(scratch / "in/", path, 100);
    if (const auto* error = std::get_if<FileError>(&read)) return "!" + error->text;
    return std::get<std::string>(read);
  };
  EXPECT_EQ(content("a"), "a");
  EXPECT_EQ(content("sub/b"), "b");
  EXPECT_EQ(content("inside"), "b");
  for (const char* path : {"outside", "absolute", "../out", "sub/../../out", "/etc/passwd"}) {
    EXPECT_EQ(content(path), "!leads out of `" + (scratch / "in/") + "`") << path;
  }
  EXPECT_EQ(content("dangling"), "!is a symbolic link to nowhere");
  EXPECT_EQ(content("sub"), "!is a directory");
  EXPECT_EQ(content("none"), "!No such file or directory");
}

TEST(ListDirectory, SortsByByte) {
  const Scratch scratch;
  for (const char* name : {"b", "a", "B", ".hidden", "\xC3\xA9"}) put(scratch / name, "");
  const auto names = std::get<0>(list_directory(scratch.path().string()));
  EXPECT_EQ(names, (std::vector<std::string>{".hidden", "B", "a", "b", "\xC3\xA9"}));
}

TEST(ListDirectory, ReportsErrors) {
  const Scratch scratch;
  put(scratch / "f", "");
  EXPECT_EQ(std::get<1>(list_directory(scratch / "absent")).code, ENOENT);
  EXPECT_EQ(std::get<1>(list_directory(scratch / "f")).code, ENOTDIR);
}

TEST(FileDescriptor, ClosesOnce) {
  FileDescriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = file.get();
  FileDescriptor other(std::move(file));
  EXPECT_EQ(other.get(), number);
  EXPECT_EQ(other.close(), 0);
  EXPECT_FALSE(other);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace gpuctl::base
