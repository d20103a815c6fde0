// The files that go into a run: read from the disk or from memory, counted, hidden, remembered.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/file.hpp"
#include "pipeline/request.hpp"
#include "secrets/rules.hpp"
#include "yaml/context.hpp"

namespace gpuctl::pipeline {

/// Longest file that a run reads for a user, in bytes.
inline constexpr std::size_t kMostInputBytes = 4 * 1024 * 1024;

/// All files together that a blueprint names, such as extra manifests, in bytes.
inline constexpr std::size_t kMostExtraBytes = 16 * 1024 * 1024;

/// Where paths in a file are relative to: "" or with a slash at its end.
std::string directory_of(const std::string& path);
/// The facts beside a blueprint: `prod.yaml` -> `prod.facts.yaml`.
std::string facts_beside(const std::string& blueprint_file);

/// A file that an input names.
struct NamedFile {
  std::string path;    // as it is opened
  std::size_t home;    // length of the directory in `path` that it must lie below; kAnywhere
  std::string digest;  // SHA-256, in hex
  static constexpr std::size_t kAnywhere = std::string::npos;
};

/// Opens such a file.
std::variant<std::string, base::FileError> read_named(const std::string& path, std::size_t home,
                                                      std::size_t most_bytes);

/// SHA-256 digests, in hex, of the files that went into a run. What comes from the target is not
/// among them.
struct Inputs {
  std::string blueprint_file;    // as the user named it: messages show it
  std::string blueprint;         // of a member: of its content
  std::string places;            // of a member: of the files that have it; messages show lines
  std::string facts;             // --facts; empty: not given
  std::string facts_beside;      // empty: none, or not looked at
  std::vector<NamedFile> extra;  // bases, and what fields name

  /// Of all of it. Without `places`: of what decides on the output, and not on lines in messages.
  std::string digest(bool with_places = true) const;
};

/// Reads for one run. A file of `Request::given` comes before one on the disk. Nothing is said of a
/// file before what looks like a secret in it is hidden.
class InputFiles {
 public:
  InputFiles(const std::string& blueprint_file, const Request& request, const secrets::Rules& rules,
             yaml::Context context);

  /// What stands in a file with others, or nullptr: the blueprint is a file.
  const Member* member() const { return member_; }
  /// What relative paths of the blueprint are relative to.
  const std::string& directory() const { return directory_; }
  /// Where its facts may lie.
  std::string facts_beside() const;

  using Content = std::variant<std::string, base::FileError>;

  /// A file, or why it cannot be read.
  Content content(const std::string& path) const;
  /// A file that the user named; nothing after GPU0002.
  std::optional<std::string> read(const std::string& path) const;
  /// Adds a file to the sources.
  diag::FileId add(const std::string& name, std::string bytes) const;
  /// A file below the directory of the one that names it at `path`, added to the sources and to
  /// what was read; nothing after an error with this code.
  std::optional<diag::FileId> read_beside(const yaml::Node& path, std::string_view code);
  /// A base, which a document names at `path`, likewise; wherever it lies.
  std::optional<diag::FileId> read_base(const std::string& name, const yaml::Node& path);

  /// True once read_beside() met the limit of all files together, which it says once.
  bool exhausted() const { return extra_bytes_ == kMostExtraBytes; }

  /// What was read so far.
  Inputs inputs;

 private:
  Content content(const std::string& path, const std::function<Content()>& otherwise) const;
  std::optional<diag::FileId> read_named_at(const yaml::Node& at, const std::string& name,
                                            std::size_t home, std::string_view code);
  std::string directory_at(const yaml::Node& path) const;

  const Request& request_;
  const secrets::Rules& rules_;
  yaml::Context context_;
  const Member* member_ = nullptr;
  std::string directory_;
  std::size_t extra_bytes_ = 0;  // of files that the blueprint and its bases name
};

}  // namespace gpuctl::pipeline
