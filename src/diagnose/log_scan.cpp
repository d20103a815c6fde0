#include "diagnose/log_scan.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.hpp"
#include "base/text.hpp"
#include "diag/character.hpp"
#include "diagnose/codes.hpp"
#include "secrets/decode.hpp"

namespace gpuctl::diagnose {

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20U;
constexpr std::size_t kMostPackedBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostShown = 300;
constexpr std::size_t kTarMark = 257;

bool is_odd(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80U || (byte < 0x20U && c != '\t');
}

// What patterns can be looked for in: valid UTF-8 without controls.
std::string readable(std::string_view line) {
  std::string out;
  diag::append_visible(out, line);
  return out;
}

std::string shortened(std::string_view line) {
  if (line.size() <= kMostShown) return std::string(line);
  return std::string(line.substr(0, base::character_limit(line, kMostShown))) + " ...";
}

diag::Diagnostic& warn(diag::Sink& sink, std::string_view code, const Log& log,
                       const std::string& what) {
  return sink.warning(code, diag::kNoOrigin, "`" + diag::shown(log.name) + "` " + what);
}

void scan_packed(const Log& log, std::size_t most, LogScan& out, diag::Sink& sink) {
  const auto content = base::read_file(log.path, kMostPackedBytes);
  if (const auto* error = std::get_if<base::FileError>(&content)) {
    warn(sink, kUnreadPart, log, "cannot be read: " + error->text);
    return;
  }
  bool cut = false;
  const auto text = secrets::from_gzip(std::get<std::string>(content), most, cut);
  if (!text) {
    warn(sink, kNotText, log, "cannot be unpacked");
    return;
  }
  if (is_binary(*text)) {
    warn(sink, kNotText, log, "is no log").suggest("unpack it, and give the directory");
    return;
  }
  if (cut) warn(sink, kCutShort, log, "is longer than what is read of it");
  out.feed(*text);
}

}  // namespace

bool is_binary(std::string_view beginning) {
  if (beginning.size() > kTarMark + 5 && beginning.substr(kTarMark, 5) == "ustar") return true;
  const std::string_view looked = beginning.substr(0, 4096);
  const auto junk =
      static_cast<std::size_t>(std::count_if(looked.begin(), looked.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x09U || (byte > 0x0DU && byte < 0x1BU) || byte == 0x7FU;
      }));
  return junk * 10 > looked.size();
}

void LogScan::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() < kMostLineBytes) line_.append(part.substr(0, kMostLineBytes - line_.size()));
    pending_ = true;
    if (end == std::string_view::npos) return;
    end_line();
    bytes.remove_prefix(end + 1);
  }
}

void LogScan::finish() {
  if (pending_) end_line();
}

void LogScan::end_line() {
  ++lines_;
  pending_ = false;
  while (!line_.empty() && line_.back() == '\r') line_.pop_back();
  if (std::any_of(line_.begin(), line_.end(), is_odd)) line_ = readable(line_);
  const signature::Signatures::Matches matches = signatures_.matches(line_);
  std::erase_if(hits_, [&](const Hit& hit) {
    return std::find(matches.over.begin(), matches.over.end(), hit.signature) != matches.over.end();
  });
  for (const signature::Signature* found : matches.found) {
    const auto known = std::find_if(hits_.begin(), hits_.end(),
                                    [&](const Hit& hit) { return hit.signature == found; });
    if (known != hits_.end()) {
      ++known->count;
    } else {
      hits_.push_back({found, lines_, 1, shortened(line_)});
    }
  }
  line_.clear();
}

LogScan scan(const Log& log, const signature::Signatures& signatures, diag::Sink& sink,
             std::size_t most) {
  LogScan out(signatures);
  if (log.path.empty()) {
    out.feed(log.content);
    out.finish();
    return out;
  }
  const base::FileDescriptor file(::open(log.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    warn(sink, kUnreadPart, log,
         "cannot be read: " + (file ? std::string("it is no file") : base::errno_text(errno)));
    return out;
  }
  std::string chunk(kChunk, '\0');
  std::size_t total = 0;
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) warn(sink, kUnreadPart, log, "cannot be read: " + base::errno_text(errno));
    if (got <= 0) break;
    const std::string_view bytes(chunk.data(), static_cast<std::size_t>(got));
    if (total == 0 && secrets::is_gzip(bytes)) {
      scan_packed(log, most, out, sink);
      break;
    }
    if (total == 0 && is_binary(bytes)) {
      warn(sink, kNotText, log, "is no text, and was not read");
      break;
    }
    out.feed(bytes);
    total += bytes.size();
    if (total >= most) {
      warn(sink, kCutShort, log, "is longer than what is read of it")
          .note(std::to_string(total >> 20U) + " MiB were read, from its beginning");
      break;
    }
  }
  out.finish();
  return out;
}

}  // namespace gpuctl::diagnose
