// A place where yaml-cpp is more lenient than YAML: what is wrong there, to be reported as GPU0102.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpuctl::yaml {

/// Bytes [begin, end) of the text, what is wrong with them and how to mend it.
struct Fault {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view message;
  std::string_view help;     // may be empty
  bool indentation = false;  // it is the column that is wrong
};

inline constexpr std::string_view kCommentFault = "a comment needs a blank in front of it";
inline constexpr std::string_view kCommentHelp =
    "put a blank in front of `#`, or quote the whole text";

}  // namespace gpuctl::yaml
