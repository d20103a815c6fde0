// Writing many files below one directory without ever leaving it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/file.hpp"

namespace gpuctl::base {

enum class FileMode { plain, executable };

struct OutputOptions {
  /// Directories 0700 and files 0600, whatever the umask; an existing root must be private and
  /// ours.
  bool secret = false;
  /// fsync each file before it gets its name, and its directory after.
  bool sync = false;
  /// Use openat2 where the kernel has it (Linux 5.6); off: the component-wise walk.
  bool use_openat2 = true;
};

/// A directory that files are written into. Symbolic links below the root are never followed,
/// and none is replaced: a link where a file or directory should be is an error. Files appear
/// whole or not at all (temporary file, rename). Errors name the path below the root.
class OutputTree {
 public:
  /// Opens `root`, creating it and missing parents. Links in `root` itself are followed: the user
  /// named it.
  static std::variant<OutputTree, FileError> open(const std::string& root,
                                                  OutputOptions options = {});

  /// Writes one file (0644 or 0755 less the umask, 0600 or 0700 when secret) and the directories
  /// above it (0755 less the umask). Nothing is touched when content and mode are there already.
  std::optional<FileError> write(std::string_view path, std::string_view content,
                                 FileMode mode = FileMode::plain);

  /// Removes a file, and the directories above it that became empty. An absent file is no error.
  std::optional<FileError> remove(std::string_view path);

  struct Seen {
    enum class Kind { absent, file, other };  // other: link, directory, device; or below a link
    Kind kind = Kind::absent;
    std::string content;  // of a file
    FileMode mode = FileMode::plain;
  };
  /// What stands at `path` now. A file over `most_bytes` is an error.
  std::variant<Seen, FileError> look(std::string_view path, std::size_t most_bytes);

  /// Files that write() had to write, and those it found as wanted.
  std::size_t written() const { return written_; }
  std::size_t unchanged() const { return unchanged_; }

 private:
  OutputTree(FileDescriptor root, OutputOptions options);

  struct Parent {
    int descriptor = -1;
    std::string name;  // last component
  };
  enum class Missing { create, leave };
  std::variant<Parent, FileError> parent_of(std::string_view path, Missing missing);
  std::variant<FileDescriptor, FileError> open_directory(std::string_view path, Missing missing);
  std::variant<bool, FileError> same(const Parent& parent, std::string_view path,
                                     std::string_view content, unsigned mode) const;

  FileDescriptor root_;
  OutputOptions options_;
  // Paths come sorted, so the directory used last is mostly the one wanted next.
  std::string last_path_;
  FileDescriptor last_;
  std::size_t written_ = 0;
  std::size_t unchanged_ = 0;
};

}  // namespace gpuctl::base
