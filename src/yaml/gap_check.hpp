// What stands between the scalars of a text: brackets, commas, comments, markers, directives.
// yaml-cpp takes more of it than YAML allows, so every byte that is part of no scalar is looked at
// here once more; nothing of a text is passed over.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "yaml/fault.hpp"

namespace gpuctl::yaml {

class GapCheck {
 public:
  /// `start`: behind the byte order mark. With `old` a `%YAML` line can only say 1.1.
  GapCheck(std::string_view text, std::size_t start, bool old = false)
      : text_(text), at_(start), start_(start), old_(old) {}

  /// Tells that the bytes [begin, end) are a scalar or an alias, and checks what stands between
  /// them and the one before. Scalars come in the order of the text. The sign in front comes back:
  /// one of `[]{},:?-`, `s` for a scalar, an anchor or a tag, NUL at the start of a document.
  char scalar(std::size_t begin, std::size_t end);
  /// Checks what stands behind the last scalar.
  void finish();

  /// What was found since this was called last, in order.
  std::vector<Fault> take_faults();

 private:
  void gap(std::size_t end);
  std::size_t line_start(std::size_t end);
  std::size_t line_end(std::size_t at) const;
  void content(std::size_t at);
  void add(std::size_t begin, std::size_t end, std::string_view message, std::string_view help);

  std::string_view text_;
  std::size_t at_;  // up to here everything is checked
  std::size_t start_;
  bool old_;
  char before_ = '\0';  // the sign in front: `[`, `,`, ... or 's' for a scalar or property
  bool in_document_ = false;
  bool behind_dots_ = false;                        // on a line that starts with `...`
  std::size_t directive_ = std::string_view::npos;  // one that waits for its `---`
  std::vector<Fault> faults_;
};

}  // namespace gpuctl::yaml
