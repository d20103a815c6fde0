#include "base/new_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace gpuctl::base {

namespace {

// Directories below a new one, each made when the first file in it comes. Files come sorted, so the
// directories on the way to the last one are mostly those of the next.
class DirectoryWriter {
 public:
  explicit DirectoryWriter(FileDescriptor root) { open_.push_back({"", std::move(root)}); }

  std::optional<FileError> write(const std::string& path, std::string_view content) {
    const std::size_t slash = path.rfind('/');
    const std::string_view directory =
        slash == std::string::npos ? std::string_view() : std::string_view(path).substr(0, slash);
    if (auto error = enter(directory)) return error;
    const char* name = path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
    FileDescriptor file(::openat(open_.back().descriptor.get(), name,
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file) return os_error(path, errno);
    int code = write_all(file.get(), content);
    if (const int closed = file.close(); code == 0) code = closed;
    if (code != 0) return os_error(path, code);
    return std::nullopt;
  }

 private:
  struct Level {
    std::string path;
    FileDescriptor descriptor;
  };

  bool holds(const Level& level, std::string_view directory) const {
    return level.path.empty() ||
           (directory.starts_with(level.path) &&
            (directory.size() == level.path.size() || directory[level.path.size()] == '/'));
  }

  std::optional<FileError> enter(std::string_view directory) {
    while (!holds(open_.back(), directory)) open_.pop_back();
    while (open_.back().path.size() < directory.size()) {
      const Level& above = open_.back();
      const std::size_t begin = above.path.empty() ? 0 : above.path.size() + 1;
      const std::size_t end = std::min(directory.find('/', begin), directory.size());
      const std::string name(directory.substr(begin, end - begin));
      std::string path(directory.substr(0, end));
      // It may be there when the files come in another order than their directories.
      if (::mkdirat(above.descriptor.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
        return os_error(path, errno);
      }
      FileDescriptor made(::openat(above.descriptor.get(), name.c_str(), kDirectoryFlags));
      if (!made) return os_error(path, errno);
      open_.push_back({std::move(path), std::move(made)});
    }
    return std::nullopt;
  }

  std::vector<Level> open_;
};

}  // namespace

std::optional<FileError> write_directory(int parent, const std::string& name,
                                         const std::map<std::string, std::string>& files) {
  if (::mkdirat(parent, name.c_str(), 0755) != 0) return os_error("", errno);
  FileDescriptor root(::openat(parent, name.c_str(), kDirectoryFlags));
  if (!root) return os_error("", errno);
  DirectoryWriter writer(std::move(root));
  for (const auto& [path, content] : files) {
    if (auto error = writer.write(path, content)) return error;
  }
  return std::nullopt;
}

std::vector<std::string> names_in(int descriptor) {
  std::vector<std::string> names;
  // Opened again, as reading moves the position that all duplicates share.
  const int own = ::openat(descriptor, ".", kDirectoryFlags);
  DIR* stream = own < 0 ? nullptr : ::fdopendir(own);
  if (stream == nullptr) {
    if (own >= 0) ::close(own);
    return names;
  }
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view found = entry->d_name;
    if (found != "." && found != "..") names.emplace_back(found);
  }
  ::closedir(stream);
  return names;
}

void remove_directory(int parent, const std::string& name) {
  const FileDescriptor directory(::openat(parent, name.c_str(), kDirectoryFlags));
  if (!directory) return;
  for (const std::string& found : names_in(directory.get())) {
    if (::unlinkat(directory.get(), found.c_str(), 0) != 0) {
      remove_directory(directory.get(), found);
    }
  }
  ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
}

}  // namespace gpuctl::base
