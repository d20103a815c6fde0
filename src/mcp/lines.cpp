#include "mcp/lines.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace gpuctl::mcp {

Lines::Lines(int descriptor, std::size_t most) : descriptor_(descriptor), most_(most) {}

Lines::Got Lines::next(std::string& line) {
  bool too_long = false;
  std::size_t looked = 0;  // bytes of read_ without a line feed
  for (;;) {
    const std::size_t end = read_.find('\n', looked);
    if (end != std::string::npos || (ended_ && !read_.empty())) {
      line = read_.substr(0, end);
      read_.erase(0, end == std::string::npos ? end : end + 1);
      return too_long || line.size() > most_ ? Got::too_long : Got::line;
    }
    if (ended_) return too_long ? Got::too_long : Got::end;
    if (read_.size() > most_) {
      too_long = true;
      read_.clear();
    }
    looked = read_.size();
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Got::failed;
    if (got == 0) ended_ = true;
    read_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace gpuctl::mcp
