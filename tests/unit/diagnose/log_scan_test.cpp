// Logs as they come: cut anywhere, with bytes that are no text, longer than memory.
#include "diagnose/log_scan.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <set>

#include "diagnose/codes.hpp"
#include "lab.hpp"

namespace gpuctl::diagnose {
namespace {

std::vector<std::string> names(const LogScan& scan) {
  std::vector<std::string> out;
  for (const Hit& hit : scan.hits()) out.push_back(hit.signature->name);
  return out;
}

class Scanning : public testing::Test {
 protected:
  LogScan scanned(const std::string& text) {
    LogScan scan(lab_.signatures);
    scan.feed(text);
    scan.finish();
    return scan;
  }
  std::string file(const std::string& content) {
    std::string path = testing::TempDir() + "diagnose_log_scan_test.log";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static Log log_at(const std::string& path) {
    Log log;
    log.name = log.path = path;
    return log;
  }
  Lab lab_;
};

TEST_F(Scanning, FindsLinesInTheirOrderAndCounts) {
  const LogScan scan = scanned("ok\r\nit went wrong\nnvcc: CANNOT BUILD x\nit went wrong again");
  ASSERT_EQ(names(scan), (std::vector<std::string>{"vague", "build"}));
  EXPECT_EQ(scan.hits()[0].line, 2U);
  EXPECT_EQ(scan.hits()[0].count, 2U);
  EXPECT_EQ(scan.hits()[0].text, "it went wrong");
  EXPECT_EQ(scan.lines(), 4U);
}

TEST_F(Scanning, ForgetsWhatIsOver) {
  EXPECT_TRUE(names(scanned("no licence\ngot a licence\n")).empty());
  EXPECT_EQ(names(scanned("no licence\ngot a licence\nno licence\n")),
            std::vector<std::string>{"unlicensed"});
}

TEST_F(Scanning, LeavesWhatOnlyInstallersPrint) {
  EXPECT_EQ(names(scanned("no quota")), std::vector<std::string>{"quota"});
  EXPECT_EQ(names(scanned("both of them")), std::vector<std::string>{"both"});
}

TEST_F(Scanning, SeesThroughBytesThatAreNoText) {
  EXPECT_EQ(names(scanned("\xff\xfe\x1b[31m it cannot build \x80\n")),
            std::vector<std::string>{"build"});
}

TEST_F(Scanning, BoundsLines) {
  const LogScan scan =
      scanned(std::string(3 * kMostLineBytes, 'x') + "cannot build\ncannot build\n");
  ASSERT_EQ(names(scan), std::vector<std::string>{"build"});
  EXPECT_EQ(scan.hits()[0].line, 2U);
  const LogScan shown = scanned("cannot build " + std::string(5000, 'y'));
  EXPECT_LT(shown.hits()[0].text.size(), 400U);
}

// Whatever the bytes are and wherever they are cut, the same is found, and lines that were put in
// are among it.
TEST_F(Scanning, FindsTheSameHoweverItIsCut) {
  std::mt19937 random(17);
  const std::vector<std::string> lines = {"cannot build", "it went wrong", "no licence"};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    std::set<std::string> planted;
    const int count = static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i) {
      if (random() % 4 == 0) {
        const std::string& line = lines[random() % lines.size()];
        planted.insert(line);
        text += "\n" + line + "\n";
        continue;
      }
      for (std::size_t byte = random() % 60; byte > 0; --byte) {
        text += static_cast<char>(random() % 256);
      }
    }
    const LogScan whole = scanned(text);
    LogScan cut(lab_.signatures);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 17;
      cut.feed(std::string_view(text).substr(at, size));
      at += size;
    }
    cut.finish();
    EXPECT_EQ(names(whole), names(cut)) << "round " << round;
    EXPECT_EQ(whole.lines(), cut.lines());
    EXPECT_GE(whole.hits().size(), planted.size()) << "round " << round;
  }
}

TEST_F(Scanning, ReadsFilesUpToABound) {
  std::string text;
  while (text.size() < (std::size_t{3} << 20U)) text += "line after line\n";
  const std::string path = file(text + "cannot build\n");
  diag::Sink sink;
  EXPECT_EQ(names(scan(log_at(path), lab_.signatures, sink)), std::vector<std::string>{"build"});
  EXPECT_TRUE(sink.empty());
  EXPECT_TRUE(names(scan(log_at(path), lab_.signatures, sink, std::size_t{1} << 20U)).empty());
  ASSERT_EQ(sink.all().size(), 1U);
  EXPECT_EQ(sink.all()[0].code, kCutShort);
  std::remove(path.c_str());
}

TEST_F(Scanning, SaysWhatItCannotRead) {
  diag::Sink sink;
  const std::string binary = file(std::string(4000, '\1') + "cannot build");
  EXPECT_TRUE(names(scan(log_at(binary), lab_.signatures, sink)).empty());
  EXPECT_TRUE(names(scan(log_at("/nowhere/at/all.log"), lab_.signatures, sink)).empty());
  EXPECT_TRUE(names(scan(log_at("/dev/zero"), lab_.signatures, sink)).empty());
  ASSERT_EQ(sink.all().size(), 3U);
  EXPECT_EQ(sink.all()[0].code, kNotText);
  EXPECT_EQ(sink.all()[1].code, kUnreadPart);
  EXPECT_EQ(sink.all()[2].code, kUnreadPart);
  std::remove(binary.c_str());
}

}  // namespace
}  // namespace gpuctl::diagnose
