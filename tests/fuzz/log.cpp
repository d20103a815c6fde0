// Any bytes as the log of an installer, in any pieces: the same lines come of it as in one piece,
// no line is longer than the limit, and each can be taken apart.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "install/log_reader.hpp"

namespace {

using namespace gpuctl::install;

std::vector<std::string> cut(std::string_view bytes, std::size_t piece) {
  LineCutter cutter;
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    for (std::string& line : cutter.add(bytes.substr(0, piece))) lines.push_back(std::move(line));
    bytes.remove_prefix(piece < bytes.size() ? piece : bytes.size());
  }
  lines.push_back(cutter.rest());
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 64U;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  // One byte in the middle may stand for a megabyte.
  if (const std::size_t at = text.find('\x01'); at != std::string::npos) {
    text.replace(at, 1, std::string(1 << 20, 'x'));
  }
  const std::vector<std::string> whole = cut(text, text.size() + 1);
  if (whole != cut(text, text.size() > 100'000 ? 4096 + piece : piece)) std::abort();
  for (const std::string& line : whole) {
    if (line.size() > kMostLineBytes || line.find('\n') != std::string::npos) std::abort();
    const LogLine parsed = parse_log_line(line);
    if (parsed.message.size() > line.size() || parsed.level.size() > line.size()) std::abort();
  }
  return 0;
}
