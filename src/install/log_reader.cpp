#include "install/log_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

namespace gpuctl::install {

namespace {

// A value at the beginning of `text`: quoted as Go does it, or up to the next blank. It is taken
// from `text`.
std::string take_value(std::string_view& text) {
  std::string out;
  if (!text.starts_with('"')) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out = text.substr(0, end);
    text.remove_prefix(end);
    return out;
  }
  std::size_t at = 1;
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char escaped = text[++at];
    out += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 'r' ? '\r' : escaped;
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  return out;
}

// `name=` at the beginning of a text, which is taken from it.
std::optional<std::string_view> take_name(std::string_view& text) {
  const std::size_t end = text.find('=');
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view name = text.substr(0, end);
  for (const char c : name) {
    if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_') {
      return std::nullopt;
    }
  }
  text.remove_prefix(end + 1);
  return name;
}

}  // namespace

std::vector<std::string> LineCutter::add(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (!over_) {
      partial_.append(piece.substr(0, kMostLineBytes - std::min(kMostLineBytes, partial_.size())));
      over_ = partial_.size() == kMostLineBytes;
    }
    if (end == std::string_view::npos) break;
    lines.push_back(rest());
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

std::string LineCutter::rest() {
  if (partial_.ends_with('\r')) partial_.pop_back();
  over_ = false;
  return std::exchange(partial_, {});
}

LogLine parse_log_line(std::string_view line) {
  LogLine out;
  std::string_view rest = line;
  bool known = false;
  while (!rest.empty()) {
    if (rest.front() == ' ') {
      rest.remove_prefix(1);
      continue;
    }
    const auto name = take_name(rest);
    if (!name) break;
    std::string value = take_value(rest);
    if (*name == "time") {
      out.time = std::move(value);
    } else if (*name == "level") {
      out.level = std::move(value);
      known = true;
    } else if (*name == "msg") {
      out.message = std::move(value);
      known = true;
      break;
    }
  }
  if (known) return out;
  return {"", "", std::string(line)};
}

std::vector<LogLine> LogReader::next() {
  std::vector<LogLine> out;
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return out;
  if (!file_ || status.st_ino != inode_) {
    if (file_) offset_ = 0;
    file_ = base::FileDescriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    inode_ = status.st_ino;
    cutter_.rest();
  }
  if (!file_) return out;
  if (status.st_size < offset_) {
    offset_ = 0;
    cutter_.rest();
  }
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::pread(file_.get(), buffer.data(), buffer.size(), offset_);
    if (count <= 0) break;
    offset_ += count;
    for (const std::string& line : cutter_.add({buffer.data(), static_cast<std::size_t>(count)})) {
      out.push_back(parse_log_line(line));
    }
  }
  return out;
}

std::vector<LogLine> LogReader::last() {
  std::vector<LogLine> out = next();
  const std::string line = cutter_.rest();
  if (!line.empty()) out.push_back(parse_log_line(line));
  return out;
}

std::int64_t length_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
}

}  // namespace gpuctl::install
