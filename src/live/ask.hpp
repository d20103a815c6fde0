// Questions to programs that answer in JSON.
#pragma once

#include <optional>
#include <string>

#include "base/process.hpp"
#include "yaml/node.hpp"

namespace gpuctl::live {

/// Longest answer that is read, in bytes.
inline constexpr std::size_t kMostAnswerBytes = std::size_t{64} << 20U;

/// What a program answered.
struct Answer {
  base::Ended ended;
  std::optional<yaml::Node> tree;  // absent: it failed, or its answer is no JSON
  std::string why;                 // then, in one line: what it said last, or what became of it

  bool good() const { return tree.has_value(); }
};

/// Runs a program that prints one JSON text; an empty one is null. `why` holds words of the
/// program: pass it through the mask of secrets before it is shown.
Answer ask(base::Process process, yaml::Arena& arena);

/// What became of a program, in one line: its last words, or how it ended.
std::string last_words(const base::Ended& ended);

}  // namespace gpuctl::live
