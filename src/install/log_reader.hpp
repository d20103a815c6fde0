// The log file of an installer, as it grows: lines of `time="..." level=info msg="..."`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"

namespace gpuctl::install {

/// One line. What has no such form is a message of level "".
struct LogLine {
  std::string time;   // RFC 3339
  std::string level;  // "info"
  std::string message;
};

/// Longest line that is kept; of a longer one the beginning counts.
inline constexpr std::size_t kMostLineBytes = std::size_t{64} << 10U;

/// Cuts bytes into lines, whatever pieces they come in. CRLF ends a line as LF does.
class LineCutter {
 public:
  /// The lines that these bytes complete.
  std::vector<std::string> add(std::string_view bytes);
  /// What stands behind the last line end; empty afterwards.
  std::string rest();

 private:
  std::string partial_;
  bool over_ = false;  // the rest of the line is dropped
};

/// Takes a line apart. Never fails.
LogLine parse_log_line(std::string_view line);

/// Follows a file from an offset. One that is absent, or not long enough, is read from its
/// beginning once it is there; so is one that was replaced or cut meanwhile.
class LogReader {
 public:
  LogReader(std::string path, std::int64_t offset) : path_(std::move(path)), offset_(offset) {}

  /// The lines that were added since the last call.
  std::vector<LogLine> next();
  /// A last line without an end.
  std::vector<LogLine> last();

 private:
  std::string path_;
  std::int64_t offset_;
  base::FileDescriptor file_;
  std::uint64_t inode_ = 0;
  LineCutter cutter_;
};

/// Length of a file, 0 when it is not there.
std::int64_t length_of(const std::string& path);

}  // namespace gpuctl::install
