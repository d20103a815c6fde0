// The documents that facts are read from: of files, of an installer's directory, of programs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diag/sources.hpp"
#include "yaml/context.hpp"

namespace gpuctl::facts {

/// Longest file that is read: an installer keeps all that it made in one.
inline constexpr std::size_t kMostFileBytes = std::size_t{64} << 20U;

/// A document, and where it comes from.
struct Found {
  yaml::Node tree;
  std::string source;  // as it was named: a path, or a command
  std::string place;   // "file:line:column", or the source
};

/// The documents of one file or answer. Where a program answers, `file` is none.
struct Source {
  std::string name;  // as the user named it, or a command
  std::string path;  // of the file; empty: a program answered
  std::optional<diag::FileId> file;
  std::vector<Found> documents;  // lists are taken apart
};

/// Hides in a file what looks like a secret.
using Hide = std::function<void(diag::FileId file, diag::Sources& sources)>;

/// Reads a file; of one that cannot be read nothing is shown (GPU0660). A directory gives a source
/// for each file that fits one of `patterns`; none is GPU0661.
std::vector<Source> read_source(const std::string& path, const std::vector<std::string>& patterns,
                                const Hide& hide, yaml::Context context);

/// The source that a program's answer is.
Source answered(const std::string& command, const yaml::Node& answer);

}  // namespace gpuctl::facts
