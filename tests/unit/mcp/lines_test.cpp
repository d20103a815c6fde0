#include "mcp/lines.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace gpuctl::mcp {
namespace {

using Got = Lines::Got;
using Read = std::vector<std::pair<Got, std::string>>;

// What is read of a pipe that held `text` and was closed. Text of lines that are too long is not of
// interest.
Read all_of(const std::string& text, std::size_t most) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  Lines lines(ends[0], most);
  Read out;
  std::string line;
  for (Got got = lines.next(line); got != Got::end; got = lines.next(line)) {
    out.emplace_back(got, got == Got::line ? line : "");
    if (got == Got::failed) break;
  }
  EXPECT_EQ(lines.next(line),
            out.empty() || out.back().first != Got::failed ? Got::end : Got::failed);
  ::close(ends[0]);
  return out;
}

TEST(Lines, GiveEachLineAndTheRestOfTheText) {
  EXPECT_EQ(all_of("", 8), Read());
  EXPECT_EQ(all_of("a\n\nbc", 8), (Read{{Got::line, "a"}, {Got::line, ""}, {Got::line, "bc"}}));
  EXPECT_EQ(all_of("a\n", 8), (Read{{Got::line, "a"}}));
  EXPECT_EQ(all_of(std::string("\0\n", 2), 8), (Read{{Got::line, std::string(1, '\0')}}));
}

TEST(Lines, StayInStepBehindALineThatIsTooLong) {
  const std::string full(8, 'a');
  EXPECT_EQ(all_of(full + "\n" + full + "b\nc\n", 8),
            (Read{{Got::line, full}, {Got::too_long, ""}, {Got::line, "c"}}));
  EXPECT_EQ(all_of(full + "b", 8), (Read{{Got::too_long, ""}}));
  // More than is read at a time, with and without its end.
  const std::string much(60000, 'x');
  EXPECT_EQ(all_of(much + "\nc\n", 8), (Read{{Got::too_long, ""}, {Got::line, "c"}}));
  EXPECT_EQ(all_of(much, 8), (Read{{Got::too_long, ""}}));
}

TEST(Lines, SayThatTheyCannotBeRead) {
  Lines lines(-1, 8);
  std::string line;
  EXPECT_EQ(lines.next(line), Got::failed);
}

}  // namespace
}  // namespace gpuctl::mcp
