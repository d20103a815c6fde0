// Messages of a stream, one a line.
#pragma once

#include <cstddef>
#include <string>

namespace gpuctl::mcp {

/// Reads lines from a descriptor, with memory for one of `most` bytes. What is longer is skipped to
/// its end, so that the line after it is read in step.
class Lines {
 public:
  enum class Got { line, too_long, end, failed };

  /// `descriptor` must stay open as long as this lives.
  Lines(int descriptor, std::size_t most);
  /// The next line, without its line feed, into `line`. Text at the end without a line feed counts
  /// as one. `failed`: it cannot be read, errno says why.
  Got next(std::string& line);

 private:
  int descriptor_;
  std::size_t most_;
  std::string read_;  // and not given yet
  bool ended_ = false;
};

}  // namespace gpuctl::mcp
