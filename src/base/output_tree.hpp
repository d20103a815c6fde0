// Writing many files below one directory without ever leaving it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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
  /// Hexadecimal, in the names of temporary files (`.gpuctl-tmp-MARK-...`), so that what a process
  /// that dies leaves can be told from the files of others; empty: a new one.
  std::string mark = {};
};

/// A directory that files are written into. Symbolic links below the root are never followed,
/// and none is replaced: a link where a file or directory should be is an error. Files appear
/// whole or not at all (temporary file, rename). Errors name the path below the root.
///
/// Many files appear together: stage() and stage_removal() prepare them out of sight, publish()
/// gives them their names one after the other, keep() drops what was there before. Until then
/// discard() takes everything back. A process that dies in between leaves files named
/// `.gpuctl-tmp-...`, or a part of the new files. The next one that stages something below the same
/// root removes the former: as long as the owner of a mark lives, it keeps an flock on the file
/// `.gpuctl-tmp-MARK` in the root.
class OutputTree {
 public:
  /// Opens `root`. One that does not exist is created, with missing parents, when the first file is
  /// prepared. Links in `root` itself are followed: the user named it.
  static std::variant<OutputTree, FileError> open(const std::string& root,
                                                  OutputOptions options = {});

  /// A mark that no other run has.
  static std::string new_mark();
  /// Removes temporary files with the mark of this tree in a directory ("" = the root), which a
  /// process that has died left there.
  void remove_marked(std::string_view directory);

  /// Writes one file (0644 or 0755 less the umask, 0600 or 0700 when secret) and the directories
  /// above it (0755 less the umask). Nothing is touched when content and mode are there already.
  std::optional<FileError> write(std::string_view path, std::string_view content,
                                 FileMode mode = FileMode::plain);

  /// Removes a file, and the directories above it that became empty. An absent file is no error.
  std::optional<FileError> remove(std::string_view path);

  /// Prepares write() or remove(); each path once. After an error nothing is staged any more, and
  /// all is as it was.
  std::optional<FileError> stage(std::string_view path, std::string_view content,
                                 FileMode mode = FileMode::plain);
  std::optional<FileError> stage_removal(std::string_view path);
  /// Where a directory of new files may be written, out of sight.
  struct Reserved {
    FileDescriptor parent;
    std::string name;               // to be made in `parent`
    std::shared_ptr<void> writing;  // discard() waits until it is gone
  };
  /// Stages the whole directory `path` with `files` files: what the caller writes at the reserved
  /// place by write_directory(), which needs no lock, gets its name in publish(). Nothing when
  /// something stands at `path`, or files must be secret or synced: then stage() each of them.
  std::variant<std::optional<Reserved>, FileError> reserve(std::string_view path,
                                                           std::size_t files);
  /// Makes all that is staged visible. After an error all is as it was.
  std::optional<FileError> publish();
  /// Forgets the replaced and removed files, which until now can come back. An error names one that
  /// stays behind under a temporary name.
  std::optional<FileError> keep();
  /// Takes back what was staged or published since the last keep(), and the directories made for
  /// it.
  void discard();

  struct Seen {
    enum class Kind { absent, file, other };
    Kind kind = Kind::absent;
    std::string content;  // of a file
    FileMode mode = FileMode::plain;
    std::string reason;  // of other: "is a directory", "has a symbolic link in it"
  };
  /// What stands at `path` now. A file over `most_bytes` is an error.
  std::variant<Seen, FileError> look(std::string_view path, std::size_t most_bytes);

  /// Files that had to be written, and those found as wanted.
  std::size_t written() const { return written_; }
  std::size_t unchanged() const { return unchanged_; }

 private:
  OutputTree(std::string root, FileDescriptor descriptor, OutputOptions options);

  struct Parent {
    int descriptor = -1;
    std::string name;  // last component
  };
  struct Staged {
    std::string path;
    std::string temporary;  // the new content, beside the file; empty: to be removed
    std::string backup;     // name of the old content once the new one is visible
    bool published = false;
    bool created = false;  // nothing was there before
    std::size_t files = 1;
    bool directory = false;
  };
  enum class Missing { create, leave };
  std::string temporary_name();
  std::optional<FileError> start_journal();
  std::optional<FileError> end_journal();
  void remove_left();
  std::optional<FileError> make_root();
  std::variant<Parent, FileError> parent_of(std::string_view path, Missing missing);
  std::variant<FileDescriptor, FileError> open_directory(std::string_view path, Missing missing);
  std::variant<bool, FileError> same(const Parent& parent, std::string_view path,
                                     std::string_view content, unsigned mode) const;
  std::optional<FileError> prepare(Staged& staged, std::string_view content, FileMode mode,
                                   bool& needed);
  std::optional<FileError> publish(Staged& staged);
  void take_back(Staged& staged);
  void remove_empty_directories(std::string_view path);
  std::optional<FileError> fail(FileError error);

  std::string root_name_;
  FileDescriptor root_;  // closed: the root is still absent
  OutputOptions options_;
  std::vector<Staged> staged_;
  std::vector<std::string> made_roots_;        // directories, outermost first
  std::vector<std::string> made_directories_;  // below the root, outermost first
  // Paths come sorted, so the directory used last is mostly the one wanted next.
  std::string last_path_;
  FileDescriptor last_;
  std::shared_ptr<std::atomic<int>> writers_ = std::make_shared<std::atomic<int>>(0);
  std::size_t written_ = 0;
  std::size_t unchanged_ = 0;
  std::size_t temporaries_ = 0;  // names given so far
  FileDescriptor journal_;       // says that this run lives
  bool at_once_ = false;         // files get their names as they come: no journal
};

}  // namespace gpuctl::base
