#include "base/liveness.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

namespace gpuctl::base {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kInterval{500};
// Ticks are hundredths of a second (USER_HZ). Waking up to look whether something has come takes
// less; computing takes more.
constexpr std::uint64_t kLeastTicks = 20;

// Processes end while we read about them: read() fails with ESRCH then, which an iterator over the
// buffer would throw.
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Characters that a process has read and written; proc(5), /proc/pid/io.
std::uint64_t bytes_of(const std::string& process) {
  std::istringstream text(text_of(process + "/io"));
  std::string name;
  std::uint64_t value = 0;
  std::uint64_t sum = 0;
  while (text >> name >> value) {
    if (name == "rchar:" || name == "wchar:") sum += value;
  }
  return sum;
}

// User and system time of a process; proc(5), /proc/pid/stat, fields 14 and 15.
std::uint64_t ticks_of(const std::string& process) {
  const std::string text = text_of(process + "/stat");
  const std::size_t name = text.rfind(')');  // which may hold spaces
  if (name == std::string::npos) return 0;
  std::istringstream rest(text.substr(name + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) rest >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  rest >> user >> system;
  return user + system;
}

// Numbers of the sockets that have sent a SYN and got no answer (state 02 of /proc/net/tcp).
std::set<std::string> unanswered() {
  std::set<std::string> found;
  for (const char* path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::istringstream lines(text_of(path));
    std::string line;
    std::getline(lines, line);  // the heading
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::vector<std::string> row{std::istream_iterator<std::string>(fields), {}};
      if (row.size() > 9 && row[3] == "02") found.insert("socket:[" + row[9] + "]");
    }
  }
  return found;
}

bool holds_any(const std::string& process, const std::set<std::string>& sockets) {
  std::error_code ignored;
  std::error_code ended;
  fs::directory_iterator entry(process + "/fd", ended);
  for (; !ended && entry != fs::directory_iterator(); entry.increment(ended)) {
    if (sockets.contains(fs::read_symlink(entry->path(), ignored).string())) return true;
  }
  return false;
}

}  // namespace

Liveness::Liveness(pid_t program, const Patience& patience)
    : program_(program),
      patience_(patience),
      looked_(Clock::now()),
      moved_(looked_),
      connected_(looked_) {}

std::vector<std::string> Liveness::family() const {
  std::vector<std::string> ids = {std::to_string(program_)};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string id = ids[i];
    std::istringstream children(text_of("/proc/" + id + "/task/" + id + "/children"));
    for (std::string child; children >> child;) ids.push_back(child);
  }
  for (std::string& id : ids) id.insert(0, "/proc/");
  return ids;
}

Liveness::State Liveness::state() {
  const auto now = Clock::now();
  if (now - looked_ < kInterval) return State::alive;
  looked_ = now;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
  bool connecting = false;
  const std::set<std::string> sockets = unanswered();
  for (const std::string& process : family()) {
    bytes += bytes_of(process);
    ticks += ticks_of(process);
    connecting = connecting || (!sockets.empty() && holds_any(process, sockets));
  }
  if (!connecting) connected_ = now;
  // Whatever ended or started changes the sums, and counts as well.
  if (bytes == 0 || bytes != bytes_ || ticks < ticks_ || ticks - ticks_ >= kLeastTicks) {
    moved_ = now;
    bytes_ = bytes;
    ticks_ = ticks;
  }
  const auto over = [now](std::chrono::milliseconds limit, Clock::time_point since) {
    return limit.count() != 0 && now - since >= limit;
  };
  if (over(patience_.connect, connected_)) return State::unconnected;
  return over(patience_.idle, moved_) ? State::idle : State::alive;
}

}  // namespace gpuctl::base
