#include "cli/terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/text.hpp"

namespace gpuctl::cli {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool is_plain() {
  const std::string_view terminal = variable("TERM");
  return !variable("NO_COLOR").empty() || terminal.empty() || terminal == "dumb";
}

// True when a number in the environment is at least `least`.
bool is_since(const char* name, std::int64_t least) {
  return base::parse_integer(variable(name)).value_or(0) >= least;
}

// Terminals that show links, by what they set. Those inside a multiplexer are not known: older ones
// print the address.
bool shows_links() {
  if (const std::string_view forced = variable("FORCE_HYPERLINK"); !forced.empty()) {
    return forced != "0";
  }
  if (!variable("TMUX").empty() || variable("TERM").starts_with("screen")) return false;
  constexpr std::int64_t kFirstVte = 5000;        // 0.50
  constexpr std::int64_t kFirstKonsole = 201200;  // 20.12
  if (is_since("VTE_VERSION", kFirstVte) || is_since("KONSOLE_VERSION", kFirstKonsole)) return true;
  if (!variable("WT_SESSION").empty() || !variable("KITTY_WINDOW_ID").empty()) return true;
  for (const char* program : {"iTerm.app", "WezTerm", "vscode", "ghostty"}) {
    if (variable("TERM_PROGRAM") == program) return true;
  }
  for (const char* terminal : {"xterm-kitty", "foot", "foot-extra", "alacritty", "contour"}) {
    if (variable("TERM") == terminal) return true;
  }
  return false;
}

// The directory of the pages that were installed with this program, or empty.
std::string installed_pages() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const std::filesystem::path pages =
      program.parent_path().parent_path() / "share" / "doc" / "gpuctl" / "codes";
  return std::filesystem::is_directory(pages, error) ? pages.string() : std::string();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

bool shows_colour(const std::string& wanted) {
  if (wanted != "auto") return wanted == "always";
  return ::isatty(STDERR_FILENO) == 1 && !is_plain();
}

diag::PageAddress linked_pages(const std::string& wanted) {
  if (wanted == "never" || ::isatty(STDERR_FILENO) != 1 || is_plain() || !shows_links()) return {};
  const auto page = [](const std::string& code) { return code + ".md"; };
  if (!variable("GPUCTL_DOCS").empty()) {
    const std::string base = published_pages();
    if (base.empty()) return {};
    return [=](const std::string& code) { return base + page(code); };
  }
  const std::string directory = installed_pages();
  if (directory.empty()) return {};
  return [=, base = "file://" + host_name() + base::percent_encoded(directory, "/") +
                    "/"](const std::string& code) {
    std::error_code error;
    const bool exists =
        std::filesystem::is_regular_file(std::filesystem::path(directory) / page(code), error);
    return exists ? base + page(code) : std::string();
  };
}

std::string published_pages() {
  std::string out(variable("GPUCTL_DOCS"));
  const bool breaks = std::any_of(out.begin(), out.end(), [](char c) {
    return c <= ' ' || c == '\x7f';  // it would end the link
  });
  if (out.empty() || breaks) return {};
  return out.ends_with('/') ? out : out + "/";
}

}  // namespace gpuctl::cli
