// Files of the user: opened defensively, errors as data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gpuctl::base {

/// What went wrong with which file. `code` is the errno value, 0 when the refusal is our own.
struct FileError {
  std::string path;
  int code = 0;
  std::string text;  // "No such file or directory", "is a symbolic link"
};

/// The text of an errno value.
std::string errno_text(int code);

/// What the errno value `code` says of `path`.
FileError os_error(const std::string& path, int code);

/// Owner of a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  void reset();
  /// Closes and gives the errno value of the failure, or 0 (a full disk may show only here).
  int close();

 private:
  int descriptor_ = -1;
};

/// Writes all of `bytes`; gives 0 or an errno value.
int write_all(int descriptor, std::string_view bytes);

/// The content of an open regular file; errors carry `path`. A file over `most_bytes`, a directory,
/// a FIFO or a device is an error.
std::variant<std::string, FileError> read_descriptor(const FileDescriptor& file,
                                                     const std::string& path,
                                                     std::size_t most_bytes);

/// The content of the file at `path`. Directories, FIFOs, devices and files over `most_bytes` are
/// refused, without ever blocking on one.
std::variant<std::string, FileError> read_file(const std::string& path, std::size_t most_bytes);

/// read_file() of `path` below `directory` ("": the current one). A path or link that leads out of
/// the directory is an error, so that names in the input of others give no access to the rest of
/// the machine.
std::variant<std::string, FileError> read_file_beneath(const std::string& directory,
                                                       const std::string& path,
                                                       std::size_t most_bytes);

/// Names in a directory, sorted by byte, without `.` and `..`.
std::variant<std::vector<std::string>, FileError> list_directory(const std::string& path);

}  // namespace gpuctl::base
