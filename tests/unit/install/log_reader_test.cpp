#include "install/log_reader.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace gpuctl::install {
namespace {

TEST(LogLine, IsTakenApart) {
  const LogLine line =
      parse_log_line(R"(time="2031-12-31T12:00:00Z" level=info msg="a \"b\"\nc" more=1)");
  EXPECT_EQ(line.time, "2031-12-31T12:00:00Z");
  EXPECT_EQ(line.level, "info");
  EXPECT_EQ(line.message, "a \"b\"\nc");
  EXPECT_EQ(parse_log_line("level=error msg=plain").message, "plain");
}

TEST(LogLine, IsAMessageWhereItHasNoForm) {
  for (const char* text : {"", "plain words", "= x", "a=b c=d", "\"level=info", "panic: runtime"}) {
    EXPECT_EQ(parse_log_line(text).message, text);
    EXPECT_EQ(parse_log_line(text).level, "");
  }
}

TEST(LineCutter, CutsWhateverThePieces) {
  LineCutter cutter;
  EXPECT_TRUE(cutter.add("on").empty());
  EXPECT_EQ(cutter.add("e\r\ntw"), std::vector<std::string>{"one"});
  EXPECT_EQ(cutter.add("o\n\n"), (std::vector<std::string>{"two", ""}));
  EXPECT_TRUE(cutter.add("rest").empty());
  EXPECT_EQ(cutter.rest(), "rest");
  EXPECT_EQ(cutter.rest(), "");
}

TEST(LineCutter, KeepsTheBeginningOfLongLines) {
  LineCutter cutter;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(cutter.add(std::string(100'000, 'x')).empty());
  const std::vector<std::string> lines = cutter.add("\nnext\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].size(), kMostLineBytes);
  EXPECT_EQ(lines[1], "next");
}

class LogFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() /
             ("gpuctl-log-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
              "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                .string();
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  void add(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }
  static std::vector<std::string> messages(const std::vector<LogLine>& lines) {
    std::vector<std::string> out;
    for (const LogLine& line : lines) out.push_back(line.message);
    return out;
  }

  std::string path_;
};

TEST_F(LogFile, IsFollowed) {
  LogReader reader(path_, 0);
  EXPECT_TRUE(reader.next().empty());
  add("one\ntw");
  EXPECT_EQ(messages(reader.next()), std::vector<std::string>{"one"});
  add("o\n");
  EXPECT_EQ(messages(reader.next()), std::vector<std::string>{"two"});
  add("half");
  EXPECT_TRUE(reader.next().empty());
  EXPECT_EQ(messages(reader.last()), std::vector<std::string>{"half"});
}

TEST_F(LogFile, BeginsAtAnOffset) {
  add("one\n");
  const std::int64_t offset = length_of(path_);
  add("two\n");
  LogReader reader(path_, offset);
  EXPECT_EQ(messages(reader.next()), std::vector<std::string>{"two"});
}

TEST_F(LogFile, BeginsAnewWhenItIsCutOrReplaced) {
  add("one\ntwo\n");
  LogReader reader(path_, 0);
  reader.next();
  std::ofstream(path_, std::ios::trunc) << "a\n";
  EXPECT_EQ(messages(reader.next()), std::vector<std::string>{"a"});
  std::ofstream(path_ + ".new") << "other\nlines\n";
  std::filesystem::rename(path_ + ".new", path_);
  EXPECT_EQ(messages(reader.next()), (std::vector<std::string>{"other", "lines"}));
}

}  // namespace
}  // namespace gpuctl::install
