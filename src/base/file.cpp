#include "base/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/open_beneath.hpp"
#include "base/text.hpp"

namespace gpuctl::base {
namespace {

// O_NONBLOCK: opening a FIFO without a writer would wait forever.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Why the file that the user named cannot be opened. The system's text misleads for two kinds.
FileError open_error(const std::string& path, int code) {
  struct stat status {};
  if (code == ENXIO) return {path, code, "is not a regular file"};  // a socket
  if (code == ENOENT && ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    return {path, 0, "is a symbolic link to nowhere"};
  }
  return os_error(path, code);
}

// Opens a file below `directory` to read it. -1 and errno when that cannot be.
int open_file_beneath(int directory, const std::string& path) {
  const int file = open_beneath(directory, path, kReadFlags, 0);
  if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
  // Before Linux 5.6 no link is followed at all.
  FileDescriptor at(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  const std::vector<std::string_view> parts = split(path, '/');
  for (std::size_t i = 0; at && i + 1 < parts.size(); ++i) {
    if (parts[i] == "..") {
      errno = EXDEV;
      return -1;
    }
    at = FileDescriptor(::openat(at.get(), std::string(parts[i]).c_str(),
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!at) return -1;
  return ::openat(at.get(), std::string(parts.back()).c_str(), kReadFlags | O_NOFOLLOW);
}

}  // namespace

FileError os_error(const std::string& path, int code) {
  return {path, code, errno_text(code)};
}

std::string errno_text(int code) {
  return std::generic_category().message(code);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void FileDescriptor::reset() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

int FileDescriptor::close() {
  if (descriptor_ < 0) return 0;
  return ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;
}

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

std::variant<std::string, FileError> read_descriptor(const FileDescriptor& file,
                                                     const std::string& path,
                                                     std::size_t most_bytes) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return os_error(path, errno);
  if (S_ISDIR(status.st_mode)) return FileError{path, EISDIR, "is a directory"};
  if (!S_ISREG(status.st_mode)) return FileError{path, 0, "is not a regular file"};
  const FileError too_big{path, EFBIG, "is over " + std::to_string(most_bytes) + " bytes"};
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > most_bytes) return too_big;
  // The size is a hint only: files under /proc say 0, and a file may grow while it is read.
  std::string content;
  std::size_t filled = 0;
  while (true) {
    if (filled == content.size()) {
      content.resize(std::max<std::size_t>(filled == 0 ? size + 1 : filled * 2, 4096));
    }
    const ssize_t count = ::read(file.get(), content.data() + filled, content.size() - filled);
    if (count < 0) {
      if (errno == EINTR) continue;
      return os_error(path, errno);
    }
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > most_bytes) return too_big;
  }
  content.resize(filled);
  return content;
}

std::variant<std::string, FileError> read_file(const std::string& path, std::size_t most_bytes) {
  if (path.find('\0') != std::string::npos) return FileError{path, EINVAL, "has a NUL in its name"};
  const FileDescriptor file(::open(path.c_str(), kReadFlags));
  if (!file) return open_error(path, errno);
  return read_descriptor(file, path, most_bytes);
}

std::variant<std::string, FileError> read_file_beneath(const std::string& directory,
                                                       const std::string& path,
                                                       std::size_t most_bytes) {
  const bool joined = directory.empty() || directory.ends_with('/');
  const std::string full = directory + (joined ? "" : "/") + path;
  if (full.find('\0') != std::string::npos) return FileError{full, EINVAL, "has a NUL in its name"};
  const FileDescriptor root(
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return os_error(directory, errno);
  const FileDescriptor file(open_file_beneath(root.get(), path));
  if (file) return read_descriptor(file, full, most_bytes);
  if (errno == EXDEV)
    return FileError{full, EXDEV, "leads out of `" + (directory.empty() ? "." : directory) + "`"};
  return open_error(full, errno);
}

std::variant<std::vector<std::string>, FileError> list_directory(const std::string& path) {
  if (path.find('\0') != std::string::npos) return FileError{path, EINVAL, "has a NUL in its name"};
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (!directory) return os_error(path, errno);
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) {
      if (errno != 0) return os_error(path, errno);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gpuctl::base
