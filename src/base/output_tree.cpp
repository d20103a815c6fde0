#include "base/output_tree.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "base/new_directory.hpp"
#include "base/open_beneath.hpp"
#include "base/path_check.hpp"
#include "base/text.hpp"

namespace gpuctl::base {
namespace {

// Deeper than any path that is written.
constexpr int kMostDepth = 32;
constexpr std::string_view kTemporary = ".gpuctl-tmp-";
constexpr std::string_view kDigits = "0123456789abcdef";

FileError os_error(std::string_view path, int code) {
  // O_DIRECTORY | O_NOFOLLOW on a link gives ENOTDIR or ELOOP, which says nothing to a user.
  if (code == ELOOP) return {std::string(path), code, "has a symbolic link in it"};
  return {std::string(path), code, errno_text(code)};
}

FileError refusal(std::string_view path, std::string text) {
  return {std::string(path), 0, std::move(text)};
}

// Opens one directory in another, never through a link.
int open_child(int parent, const std::string& name) {
  const int descriptor = ::openat(parent, name.c_str(), kDirectoryFlags);
  if (descriptor >= 0 || errno != ENOTDIR) return descriptor;
  struct stat status {};
  const bool link =
      ::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
  errno = link ? ELOOP : ENOTDIR;
  return -1;
}

// Makes a directory with exactly 0700 when secret, 0755 less the umask otherwise. 0 or errno.
int make_directory(int parent, const std::string& name, bool secret) {
  if (::mkdirat(parent, name.c_str(), secret ? 0700 : 0755) != 0) return errno;
  if (!secret) return 0;
  const FileDescriptor made(open_child(parent, name));
  if (made && ::fchmod(made.get(), 0700) == 0) return 0;
  const int code = errno;
  ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
  return code;
}

bool is_link_to_nowhere(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode) &&
         ::stat(path.c_str(), &status) != 0 && errno == ENOENT;
}

// Why what stands at a path is no file to be replaced; "" when it is one.
std::string other_than_file(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISLNK(mode)) return "is a symbolic link";
  return S_ISDIR(mode) ? "is a directory" : "is not a regular file";
}

// Secrets go only where nobody else looks.
std::optional<FileError> check_private(const std::string& root, int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return os_error(root, errno);
  if (status.st_uid != ::geteuid()) return refusal(root, "belongs to another user");
  if ((status.st_mode & 0077U) != 0) {
    return refusal(root, "is open to other users, secrets need mode 0700");
  }
  return std::nullopt;
}

// Removes what has a name with this start, here and in all directories below, without following
// links. False when something stays.
bool remove_all_marked(int directory, const std::string& start, int depth) {
  bool done = true;
  for (const std::string& name : names_in(directory)) {
    struct stat status {};
    if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (name.starts_with(start)) {
      if (S_ISDIR(status.st_mode)) remove_directory(directory, name);
      done = (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) && done;
    } else if (S_ISDIR(status.st_mode) && depth > 0) {
      const FileDescriptor below(open_child(directory, name));
      if (below) done = remove_all_marked(below.get(), start, depth - 1) && done;
    }
  }
  return done;
}

}  // namespace

OutputTree::OutputTree(std::string root, FileDescriptor descriptor, OutputOptions options)
    : root_name_(std::move(root)), root_(std::move(descriptor)), options_(std::move(options)) {
  if (options_.mark.empty()) options_.mark = new_mark();
}

std::string OutputTree::new_mark() {
  std::array<unsigned char, 8> bytes{};
  std::string mark;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    const auto id = static_cast<std::uint64_t>(::getpid());
    std::copy_n(reinterpret_cast<const unsigned char*>(&id), bytes.size(), bytes.begin());
  }
  for (const unsigned char byte : bytes) {
    mark += kDigits[byte >> 4U];
    mark += kDigits[byte & 15U];
  }
  return mark;
}

std::string OutputTree::temporary_name() {
  return std::string(kTemporary) + options_.mark + "-" + std::to_string(++temporaries_);
}

// Before the first temporary file.
std::optional<FileError> OutputTree::start_journal() {
  if (journal_ || at_once_) return std::nullopt;
  remove_left();
  const std::string name = std::string(kTemporary) + options_.mark;
  while (true) {
    FileDescriptor file(::openat(root_.get(), name.c_str(),
                                 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return os_error(name, errno);
    // Where files cannot be locked nobody will be able to tell that we are dead: nothing is
    // removed.
    while (::flock(file.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return os_error(name, errno);
    if (status.st_nlink == 0) continue;  // taken for left before it was locked
    journal_ = std::move(file);
    return std::nullopt;
  }
}

std::optional<FileError> OutputTree::end_journal() {
  if (!journal_) return std::nullopt;
  journal_.reset();
  const std::string name = std::string(kTemporary) + options_.mark;
  if (::unlinkat(root_.get(), name.c_str(), 0) == 0) return std::nullopt;
  const int code = errno;
  return FileError{name, code, "cannot be removed: " + errno_text(code)};
}

// What runs that have died left below this root.
void OutputTree::remove_left() {
  for (const std::string& name : names_in(root_.get())) {
    const bool journal = name.starts_with(kTemporary) &&
                         name.find_first_not_of(kDigits, kTemporary.size()) == std::string::npos;
    if (!journal) continue;
    const FileDescriptor file(
        ::openat(root_.get(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (remove_all_marked(root_.get(), name + "-", kMostDepth)) {
      ::unlinkat(root_.get(), name.c_str(), 0);
    }
  }
}

void OutputTree::remove_marked(std::string_view directory) {
  if (!root_) return;
  FileDescriptor opened;
  if (!directory.empty()) {
    auto found = open_directory(directory, Missing::leave);
    if (std::holds_alternative<FileError>(found)) return;
    opened = std::move(std::get<FileDescriptor>(found));
  }
  const int descriptor = opened ? opened.get() : root_.get();
  const std::string prefix = std::string(kTemporary) + options_.mark;
  for (const std::string& name : names_in(descriptor)) {
    if (!name.starts_with(prefix)) continue;
    if (::unlinkat(descriptor, name.c_str(), 0) != 0) remove_directory(descriptor, name);
  }
}

std::variant<OutputTree, FileError> OutputTree::open(const std::string& root,
                                                     OutputOptions options) {
  if (root.empty() || root.find('\0') != std::string::npos) {
    return refusal(root, "is not a usable directory name");
  }
  FileDescriptor descriptor(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) {
    if (errno != ENOENT) return os_error(root, errno);
    if (is_link_to_nowhere(root)) return refusal(root, "is a symbolic link to nowhere");
  } else if (options.secret) {
    if (auto error = check_private(root, descriptor.get())) return *error;
  }
  return OutputTree(root, std::move(descriptor), std::move(options));
}

// Creates the missing parts of a root that the user named.
std::optional<FileError> OutputTree::make_root() {
  struct stat status {};
  for (std::size_t at = 0; at != std::string::npos;) {
    at = root_name_.find('/', at + 1);
    const std::string part = root_name_.substr(0, at);
    if (::stat(part.c_str(), &status) == 0) continue;
    if (errno != ENOENT) return os_error(part, errno);
    const bool last = root_name_.find_first_not_of('/', at) == std::string::npos;
    const int code = make_directory(AT_FDCWD, part, options_.secret && last);
    if (code == 0) made_roots_.push_back(part);
    if (code == EEXIST && is_link_to_nowhere(part)) {
      return refusal(part, "is a symbolic link to nowhere");
    }
    if (code != 0 && code != EEXIST) return os_error(part, code);
    if (last) break;
  }
  root_ = FileDescriptor(::open(root_name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root_) return os_error(root_name_, errno);
  if (options_.secret) return check_private(root_name_, root_.get());
  return std::nullopt;
}

std::variant<FileDescriptor, FileError> OutputTree::open_directory(std::string_view path,
                                                                   Missing missing) {
  if (options_.use_openat2) {
    FileDescriptor directory(open_beneath(root_.get(), std::string(path),
                                          O_RDONLY | O_DIRECTORY | O_CLOEXEC, RESOLVE_NO_SYMLINKS));
    if (directory) return directory;
    // Everything but these is settled by the walk, which also works without openat2.
    if (errno == ELOOP) return os_error(path, errno);
    if (errno == ENOENT && missing == Missing::leave) return os_error(path, errno);
  }
  FileDescriptor directory(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
  if (!directory) return os_error(path, errno);
  std::size_t end = 0;  // of the part in the path
  for (const std::string_view part : split(path, '/')) {
    const std::string name(part);
    end += part.size() + (end == 0 ? 0 : 1);
    FileDescriptor child(open_child(directory.get(), name));
    if (!child && errno == ENOENT && missing == Missing::create) {
      const int code = make_directory(directory.get(), name, options_.secret);
      if (code == 0) made_directories_.emplace_back(path.substr(0, end));
      if (code != 0 && code != EEXIST) return os_error(path, code);
      if (options_.sync && ::fsync(directory.get()) != 0) return os_error(path, errno);
      child = FileDescriptor(open_child(directory.get(), name));
    }
    if (!child) return os_error(path, errno);
    directory = std::move(child);
  }
  return directory;
}

std::variant<OutputTree::Parent, FileError> OutputTree::parent_of(std::string_view path,
                                                                  Missing missing) {
  if (std::string reason = unsafe_path_reason(path); !reason.empty()) {
    return refusal(path, std::move(reason));
  }
  if (!root_) {
    if (missing == Missing::leave) return os_error(path, ENOENT);
    if (auto error = make_root()) return *error;
  }
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return Parent{root_.get(), std::string(path)};
  const std::string_view directory = path.substr(0, slash);
  if (!last_ || last_path_ != directory) {
    auto opened = open_directory(directory, missing);
    if (auto* error = std::get_if<FileError>(&opened)) {
      error->path = path;
      return *error;
    }
    last_ = std::move(std::get<FileDescriptor>(opened));
    last_path_ = directory;
  }
  return Parent{last_.get(), std::string(path.substr(slash + 1))};
}

std::variant<bool, FileError> OutputTree::same(const Parent& parent, std::string_view path,
                                               std::string_view content, unsigned mode) const {
  const FileDescriptor file(::openat(parent.descriptor, parent.name.c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return false;
    if (errno == ELOOP) return refusal(path, "is a symbolic link");
    // An unreadable file may be replaced, but only when it is a file.
    struct stat status {};
    if (errno != EACCES) return os_error(path, errno);
    if (::fstatat(parent.descriptor, parent.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
      return refusal(path, "is not a regular file");
    }
    return false;
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return os_error(path, errno);
  if (std::string reason = other_than_file(status.st_mode); !reason.empty()) {
    return refusal(path, std::move(reason));
  }
  if (static_cast<std::size_t>(status.st_size) != content.size()) return false;
  const unsigned wanted = options_.secret ? 0777U : 0100U;  // other bits are the umask's
  if ((status.st_mode & wanted) != (mode & wanted)) return false;
  const auto present = read_descriptor(file, std::string(path), content.size());
  const auto* text = std::get_if<std::string>(&present);
  return text != nullptr && *text == content;
}

std::optional<FileError> OutputTree::write(std::string_view path, std::string_view content,
                                           FileMode mode) {
  at_once_ = true;
  if (auto error = stage(path, content, mode)) return error;
  if (auto error = publish()) return error;
  return keep();
}

std::optional<FileError> OutputTree::remove(std::string_view path) {
  at_once_ = true;
  if (auto error = stage_removal(path)) return error;
  if (auto error = publish()) return error;
  return keep();
}

std::optional<FileError> OutputTree::fail(FileError error) {
  discard();
  return error;
}

std::optional<FileError> OutputTree::stage(std::string_view path, std::string_view content,
                                           FileMode mode) {
  Staged staged;
  staged.path = path;
  bool needed = false;
  if (auto error = prepare(staged, content, mode, needed)) return fail(std::move(*error));
  if (!needed) {
    ++unchanged_;
    return std::nullopt;
  }
  staged_.push_back(std::move(staged));
  ++written_;
  return std::nullopt;
}

// Writes the new content beside the file, when it is another one.
std::optional<FileError> OutputTree::prepare(Staged& staged, std::string_view content,
                                             FileMode mode, bool& needed) {
  const unsigned plain = options_.secret ? 0600U : 0644U;
  const unsigned bits = mode == FileMode::plain ? plain : plain | (plain >> 2U & 0111U);
  auto found = parent_of(staged.path, Missing::create);
  if (auto* error = std::get_if<FileError>(&found)) return std::move(*error);
  const auto& parent = std::get<Parent>(found);
  auto present = same(parent, staged.path, content, bits);
  if (auto* error = std::get_if<FileError>(&present)) return std::move(*error);
  needed = !std::get<bool>(present);
  if (!needed) return std::nullopt;

  if (auto error = start_journal()) return error;
  staged.temporary = temporary_name();
  FileDescriptor file(::openat(parent.descriptor, staged.temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, bits));
  if (!file) return os_error(staged.path, errno);
  int code = 0;
  if (options_.secret && ::fchmod(file.get(), bits) != 0) code = errno;
  if (code == 0) code = write_all(file.get(), content);
  if (code == 0 && options_.sync && ::fsync(file.get()) != 0) code = errno;
  if (const int closed = file.close(); code == 0) code = closed;
  if (code == 0) return std::nullopt;
  ::unlinkat(parent.descriptor, staged.temporary.c_str(), 0);
  return os_error(staged.path, code);
}

std::optional<FileError> OutputTree::stage_removal(std::string_view path) {
  auto found = parent_of(path, Missing::leave);
  if (auto* error = std::get_if<FileError>(&found)) {
    if (error->code == ENOENT) return std::nullopt;
    return fail(std::move(*error));
  }
  const auto& parent = std::get<Parent>(found);
  struct stat status {};
  if (::fstatat(parent.descriptor, parent.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return fail(os_error(path, errno));
  }
  if (std::string reason = other_than_file(status.st_mode); !reason.empty()) {
    return fail(refusal(path, std::move(reason)));
  }
  if (auto error = start_journal()) return fail(std::move(*error));
  Staged staged;
  staged.path = path;
  staged_.push_back(std::move(staged));
  return std::nullopt;
}

std::variant<std::optional<OutputTree::Reserved>, FileError> OutputTree::reserve(
    std::string_view path, std::size_t files) {
  if (options_.secret || options_.sync) return std::optional<Reserved>();
  const auto failed = [this](FileError error) { return *fail(std::move(error)); };
  auto found = parent_of(path, Missing::create);
  if (auto* error = std::get_if<FileError>(&found)) return failed(std::move(*error));
  const auto& parent = std::get<Parent>(found);
  struct stat status {};
  if (::fstatat(parent.descriptor, parent.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return std::optional<Reserved>();
  }
  if (errno != ENOENT) return failed(os_error(path, errno));
  if (auto error = start_journal()) return failed(std::move(*error));
  Reserved reserved;
  reserved.parent = FileDescriptor(::fcntl(parent.descriptor, F_DUPFD_CLOEXEC, 0));
  if (!reserved.parent) return failed(os_error(path, errno));
  reserved.name = temporary_name();
  *writers_ += 1;
  reserved.writing = std::shared_ptr<void>(nullptr, [writers = writers_](void*) {
    *writers -= 1;
    writers->notify_all();
  });
  Staged staged;
  staged.path = path;
  staged.temporary = reserved.name;
  staged.files = files;
  staged.directory = true;
  staged_.push_back(std::move(staged));
  written_ += files;
  return std::optional(std::move(reserved));
}

std::optional<FileError> OutputTree::publish() {
  for (Staged& staged : staged_) {
    if (auto error = publish(staged)) return fail(std::move(*error));
  }
  return std::nullopt;
}

std::optional<FileError> OutputTree::publish(Staged& staged) {
  auto found = parent_of(staged.path, Missing::leave);
  if (auto* error = std::get_if<FileError>(&found)) return std::move(*error);
  const auto& parent = std::get<Parent>(found);
  const char* name = parent.name.c_str();
  struct stat status {};
  const bool present = ::fstatat(parent.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (!present && errno != ENOENT) return os_error(staged.path, errno);
  if (staged.directory) {
    if (present) return refusal(staged.path, "appeared in the meantime");
    if (::renameat(parent.descriptor, staged.temporary.c_str(), parent.descriptor, name) != 0) {
      return os_error(staged.path, errno);
    }
    staged.created = staged.published = true;
    return std::nullopt;
  }
  if (present) {
    // It may have changed since it was staged.
    if (std::string reason = other_than_file(status.st_mode); !reason.empty()) {
      return refusal(staged.path, std::move(reason));
    }
  }
  if (staged.temporary.empty()) {
    if (!present) return std::nullopt;
    staged.backup = temporary_name();
    if (::renameat(parent.descriptor, name, parent.descriptor, staged.backup.c_str()) != 0) {
      staged.backup.clear();
      return os_error(staged.path, errno);
    }
  } else {
    if (present) {
      // A second name for the old content, so that it can come back. Where a file system knows no
      // such thing the file is replaced for good.
      staged.backup = temporary_name();
      if (::linkat(parent.descriptor, name, parent.descriptor, staged.backup.c_str(), 0) != 0) {
        staged.backup.clear();
      }
    }
    if (::renameat(parent.descriptor, staged.temporary.c_str(), parent.descriptor, name) != 0) {
      return os_error(staged.path, errno);
    }
    staged.created = !present;
  }
  staged.published = true;
  if (options_.sync && ::fsync(parent.descriptor) != 0) return os_error(staged.path, errno);
  return std::nullopt;
}

std::optional<FileError> OutputTree::keep() {
  std::optional<FileError> first;
  for (const Staged& staged : staged_) {
    if (!staged.published) continue;
    auto found = parent_of(staged.path, Missing::leave);
    const auto* parent = std::get_if<Parent>(&found);
    if (!staged.backup.empty() && parent != nullptr &&
        ::unlinkat(parent->descriptor, staged.backup.c_str(), 0) != 0 && !first) {
      const int code = errno;
      first = FileError{staged.path, code,
                        "its old content stays as `" + staged.backup + "`: " + errno_text(code)};
    }
    if (staged.temporary.empty()) remove_empty_directories(staged.path);
  }
  staged_.clear();
  made_roots_.clear();
  made_directories_.clear();
  // A run that had nothing to write has not looked yet.
  if (!journal_ && !at_once_ && root_) remove_left();
  auto left = end_journal();
  return first ? first : left;
}

void OutputTree::remove_empty_directories(std::string_view path) {
  for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos;) {
    path = path.substr(0, slash);
    auto above = parent_of(path, Missing::leave);
    const auto* directory = std::get_if<Parent>(&above);
    if (directory == nullptr ||
        ::unlinkat(directory->descriptor, directory->name.c_str(), AT_REMOVEDIR) != 0) {
      return;  // not empty: somebody else's files live there
    }
    last_.reset();
    slash = path.rfind('/');
  }
}

void OutputTree::take_back(Staged& staged) {
  auto found = parent_of(staged.path, Missing::leave);
  const auto* parent = std::get_if<Parent>(&found);
  if (parent == nullptr) return;
  if (staged.directory) {
    remove_directory(parent->descriptor, staged.published ? parent->name : staged.temporary);
    last_.reset();
  } else if (!staged.published) {
    for (const std::string& name : {staged.temporary, staged.backup}) {
      if (!name.empty()) ::unlinkat(parent->descriptor, name.c_str(), 0);
    }
  } else if (!staged.backup.empty()) {
    ::renameat(parent->descriptor, staged.backup.c_str(), parent->descriptor, parent->name.c_str());
  } else if (staged.created) {
    ::unlinkat(parent->descriptor, parent->name.c_str(), 0);
  }
}

void OutputTree::discard() {
  for (int writers = *writers_; writers != 0; writers = *writers_) writers_->wait(writers);
  for (auto staged = staged_.rbegin(); staged != staged_.rend(); ++staged) take_back(*staged);
  for (auto path = made_directories_.rbegin(); path != made_directories_.rend(); ++path) {
    last_.reset();
    auto above = parent_of(*path, Missing::leave);
    const auto* directory = std::get_if<Parent>(&above);
    if (directory == nullptr) continue;
    ::unlinkat(directory->descriptor, directory->name.c_str(), AT_REMOVEDIR);
  }
  last_.reset();
  end_journal();
  if (!made_roots_.empty()) root_.reset();
  for (auto path = made_roots_.rbegin(); path != made_roots_.rend(); ++path) {
    ::rmdir(path->c_str());
  }
  for (const Staged& staged : staged_) {
    if (!staged.temporary.empty()) written_ -= staged.files;
  }
  staged_.clear();
  made_directories_.clear();
  made_roots_.clear();
}

std::variant<OutputTree::Seen, FileError> OutputTree::look(std::string_view path,
                                                           std::size_t most_bytes) {
  auto found = parent_of(path, Missing::leave);
  if (const auto* error = std::get_if<FileError>(&found)) {
    if (error->code == ENOENT) return Seen{};
    if (error->code == ELOOP) return Seen{Seen::Kind::other, "", {}, error->text};
    if (error->code == ENOTDIR) return Seen{Seen::Kind::other, "", {}, "is below a file"};
    return *error;
  }
  const auto& parent = std::get<Parent>(found);
  struct stat status {};
  if (::fstatat(parent.descriptor, parent.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return Seen{};
    return os_error(path, errno);
  }
  if (std::string reason = other_than_file(status.st_mode); !reason.empty()) {
    return Seen{Seen::Kind::other, "", {}, std::move(reason)};
  }
  const FileDescriptor file(::openat(parent.descriptor, parent.name.c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return os_error(path, errno);
  auto content = read_descriptor(file, std::string(path), most_bytes);
  if (const auto* error = std::get_if<FileError>(&content)) return *error;
  Seen seen{Seen::Kind::file, std::move(std::get<std::string>(content)), FileMode::plain, {}};
  if ((status.st_mode & 0100U) != 0) seen.mode = FileMode::executable;
  return seen;
}

}  // namespace gpuctl::base
