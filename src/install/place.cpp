#include "install/place.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/output_tree.hpp"
#include "base/text.hpp"
#include "install/codes.hpp"

namespace gpuctl::install {

namespace {

constexpr std::string_view kJournal = "journal.jsonl";
constexpr std::size_t kMostJournalBytes = std::size_t{64} << 20U;
constexpr mode_t kOthers = 077;

std::string state_home() {
  // NOLINTBEGIN(concurrency-mt-unsafe): nothing here sets the environment
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return state;
  const char* home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.local/state" : std::string();
}

diag::Diagnostic& unusable(const std::string& path, const std::string& why, diag::Sink& sink) {
  return sink.error(kPlaceUnusable, diag::kNoOrigin, "cannot use `" + path + "`: " + why);
}

bool is_private(const std::string& path, diag::Sink& sink) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    unusable(path, base::errno_text(errno), sink);
    return false;
  }
  if (!S_ISDIR(status.st_mode)) {
    unusable(path, "it is no directory", sink);
    return false;
  }
  if (status.st_uid != ::geteuid() || (status.st_mode & kOthers) != 0) {
    unusable(path, "others can read it, or it is not yours", sink)
        .note("it holds credentials of the cluster")
        .suggest("`chmod 700 " + path + "`, or choose another with `--dir`");
    return false;
  }
  return true;
}

// All of the path, each new directory for its owner alone.
bool make_directories(const std::string& path, diag::Sink& sink) {
  for (std::size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      unusable(part, base::errno_text(errno), sink);
      return false;
    }
    if (at != std::string::npos) ++at;
  }
  return true;
}

std::string absolute(const std::string& path) {
  std::error_code failure;
  std::string out = std::filesystem::absolute(path, failure).lexically_normal().string();
  if (failure) return path;
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

}  // namespace

std::string default_place(std::string_view stage, std::string_view name) {
  const std::string home = state_home();
  if (home.empty()) return home;
  return home + "/gpuctl/clusters/" + std::string(stage) + "/" + std::string(name);
}

std::vector<std::string> known_clusters() {
  std::vector<std::string> found;
  const std::string root = state_home() + "/gpuctl/clusters";
  const auto names_in = [](const std::string& directory) {
    auto listed = base::list_directory(directory);
    auto* names = std::get_if<std::vector<std::string>>(&listed);
    return names == nullptr ? std::vector<std::string>() : std::move(*names);
  };
  for (const std::string& stage : names_in(root)) {
    for (const std::string& name : names_in(root + "/" + stage)) {
      const std::string journal = root + "/" + stage + "/" + name + "/" + std::string(kJournal);
      if (::access(journal.c_str(), F_OK) == 0) found.push_back(stage + "/" + name);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<Place> Place::open(const std::string& directory, Use use, diag::Sink& sink) {
  Place place(absolute(directory));
  const std::string& path = place.directory_;
  struct stat status {};
  if (use != Use::install && ::stat((path + "/" + std::string(kJournal)).c_str(), &status) != 0 &&
      errno == ENOENT) {
    sink.error(kNoJournal, diag::kNoOrigin, "there is no journal in `" + path + "`")
        .suggest("`gpuctl install` makes it; `--dir` names another directory");
    return std::nullopt;
  }
  if (use == Use::install && !make_directories(path, sink)) return std::nullopt;
  if (!is_private(path, sink)) return std::nullopt;
  if (use == Use::read) return place;
  const std::string name = path + "/lock";
  place.lock_ =
      base::FileDescriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!place.lock_) {
    unusable(name, base::errno_text(errno), sink);
    return std::nullopt;
  }
  if (::flock(place.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    sink.error(kInUse, diag::kNoOrigin, "another gpuctl works on this cluster")
        .note("it holds the lock on `" + name + "`")
        .suggest("`gpuctl status` shows how far it is");
    return std::nullopt;
  }
  return place;
}

std::string Place::attempt_directory(std::size_t attempt) const {
  return directory_ + "/attempt-" + std::to_string(attempt);
}

std::size_t Place::next_attempt() const {
  std::size_t number = 1;
  while (::access(attempt_directory(number).c_str(), F_OK) == 0) ++number;
  return number;
}

bool Place::make_attempt(std::size_t attempt, diag::Sink& sink) const {
  return make_directories(attempt_directory(attempt), sink) &&
         is_private(attempt_directory(attempt), sink);
}

std::optional<std::vector<std::string>> Place::lines(diag::Sink& sink) {
  std::vector<std::string> out;
  const std::string name = directory_ + "/" + std::string(kJournal);
  auto read = base::read_file(name, kMostJournalBytes);
  if (const auto* error = std::get_if<base::FileError>(&read)) {
    if (error->code == ENOENT) return out;
    unusable(name, error->text, sink);
    return std::nullopt;
  }
  const std::string& text = std::get<std::string>(read);
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return out;
  for (const std::string_view line : base::split(std::string_view(text).substr(0, end), '\n')) {
    if (!line.empty()) out.emplace_back(line);
  }
  return out;
}

bool Place::append(std::string_view line, diag::Sink& sink) {
  const std::string name = directory_ + "/" + std::string(kJournal);
  if (!journal_) {
    journal_ =
        base::FileDescriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (journal_) {
      // What a kill has cut off goes.
      auto read = base::read_file(name, kMostJournalBytes);
      const auto* text = std::get_if<std::string>(&read);
      const std::size_t end = text == nullptr ? std::string::npos : text->rfind('\n');
      const std::size_t size = end == std::string::npos ? 0 : end + 1;
      if (text == nullptr || ::ftruncate(journal_.get(), static_cast<off_t>(size)) != 0 ||
          ::lseek(journal_.get(), 0, SEEK_END) < 0) {
        journal_.reset();
      }
    }
  }
  const int code = journal_ ? base::write_all(journal_.get(), std::string(line) + "\n")
                            : (errno != 0 ? errno : EIO);
  if (code != 0 || ::fsync(journal_.get()) != 0) {
    unusable(name, base::errno_text(code != 0 ? code : errno), sink);
    return false;
  }
  return true;
}

bool Place::write(const std::string& path, std::string_view content, diag::Sink& sink) const {
  auto opened = base::OutputTree::open(directory_, {.secret = true, .sync = true});
  std::optional<base::FileError> error;
  if (auto* tree = std::get_if<base::OutputTree>(&opened)) {
    error = tree->write(path, content);
  } else {
    error = std::get<base::FileError>(opened);
  }
  if (!error) return true;
  sink.error(kUnwritable, diag::kNoOrigin,
             "cannot write `" + directory_ + "/" + path + "`: " + error->text);
  return false;
}

bool Place::put_aside(diag::Sink& sink) {
  const std::string name = directory_ + "/" + std::string(kJournal);
  for (std::size_t number = 1;; ++number) {
    const std::string aside = directory_ + "/journal-" + std::to_string(number) + ".jsonl";
    if (::access(aside.c_str(), F_OK) == 0) continue;
    journal_.reset();
    if (::rename(name.c_str(), aside.c_str()) == 0) return true;
    unusable(name, base::errno_text(errno), sink);
    return false;
  }
}

}  // namespace gpuctl::install
