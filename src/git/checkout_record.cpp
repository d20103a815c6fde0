#include "git/checkout_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "git/codes.hpp"
#include "git/names.hpp"

namespace gpuctl::git {
namespace {

constexpr std::string_view kName = "/gpuctl-checkout";
constexpr std::string_view kMagic = "gpuctl-checkout 1";
constexpr std::size_t kMostRecordBytes = 8192;
constexpr std::size_t kLines = 6;  // with what follows the last line end

int write_durably(const std::string& path, std::string_view text) {
  base::FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) return errno;
  int code = base::write_all(file.get(), text);
  if (code == 0 && ::fsync(file.get()) != 0) code = errno;
  if (const int closed = file.close(); code == 0) code = closed;
  return code;
}

int sync_directory(const std::string& path) {
  const base::FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory && ::fsync(directory.get()) == 0 ? 0 : errno;
}

}  // namespace

std::optional<CheckoutRecord> CheckoutRecord::read(const std::string& git_directory) {
  const auto content = base::read_file(git_directory + std::string(kName), kMostRecordBytes);
  const auto* text = std::get_if<std::string>(&content);
  if (text == nullptr) return std::nullopt;
  const std::vector<std::string_view> lines = base::split(*text, '\n');
  if (lines.size() != kLines || lines[0] != kMagic || !lines[5].empty()) return std::nullopt;
  CheckoutRecord record{std::string(lines[1]), std::string(lines[2]), std::string(lines[3]),
                        std::string(lines[4])};
  const bool good = !record.branch.empty() && (record.before.empty() || is_id(record.before)) &&
                    is_id(record.after) && is_hex(record.mark);
  if (!good) return std::nullopt;
  return record;
}

bool CheckoutRecord::write(const std::string& git_directory, diag::Sink& sink) const {
  const std::string path = git_directory + std::string(kName);
  const std::string fresh = path + ".new";
  const std::string text =
      std::string(kMagic) + "\n" + branch + "\n" + before + "\n" + after + "\n" + mark + "\n";
  int code = write_durably(fresh, text);
  if (code == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) code = errno;
  if (code == 0) code = sync_directory(git_directory);
  if (code == 0) return true;
  ::unlink(fresh.c_str());
  ::unlink(path.c_str());
  sink.error(kCannotWrite, diag::kNoOrigin, "cannot write `" + path + "`")
      .note(base::errno_text(code))
      .suggest("make room or grant access, then run again: nothing was changed on the branch");
  return false;
}

bool CheckoutRecord::remove(const std::string& git_directory) {
  return ::unlink((git_directory + std::string(kName)).c_str()) == 0 || errno == ENOENT;
}

}  // namespace gpuctl::git
