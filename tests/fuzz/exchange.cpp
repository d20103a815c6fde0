// An address on the first line, then what git says: nothing of a server may crash us, steer the
// terminal or bring a user of an address to light, and no address becomes an option.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "git/address.hpp"
#include "git/trouble.hpp"

namespace {

using namespace gpuctl;

void require(bool holds) {
  if (!holds) std::abort();
}

bool printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void check_address(const git::Address& address) {
  require(printable(address.url) && !address.url.starts_with('-'));
  require(address.url.compare(address.url.find(':'), 4, "://-") != 0);
  require(address.shown == address.url);
  require(address.name.size() < 100 &&
          address.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
              std::string::npos);
  if (!address.scheme.starts_with("http")) return;
  const std::string_view authority =
      std::string_view(address.url).substr(address.scheme.size() + 3);
  require(authority.substr(0, authority.find('/')).find('@') == std::string_view::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const std::string first = text.substr(0, line);
  const std::string said = line == std::string::npos ? "" : text.substr(line + 1);
  diag::Sink sink;
  if (git::is_address(first)) {
    const auto address = git::read_address(first, sink);
    require(address.has_value() != sink.has_errors());
    if (address) check_address(*address);
  }
  diag::Sink none;
  const git::Address host = *git::read_address("https://host/x", none);
  const git::PushReport report = git::read_push_report(said, said, "main");
  git::report_refusal(report.reason, said, "main", host, sink);
  git::report_trouble({base::Ended::How::exited, 128, said, said}, "read", host,
                      git::TimeLimits{.total = std::chrono::seconds(1)}, sink);
  for (const diag::Diagnostic& found : sink.all()) {
    require(!found.help.empty() || found.code == "GPU0527");
    for (const std::string& note : found.notes) require(printable(note) && note.size() < 400);
  }
  return 0;
}
