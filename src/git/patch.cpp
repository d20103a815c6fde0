#include "git/patch.hpp"

#include <algorithm>
#include <string_view>

#include "git/libgit.hpp"

namespace gpuctl::git {

namespace {

// git cuts the line that heads a hunk, and then takes blanks from its end; libgit2 only cuts.
std::string with_trimmed_headings(std::string_view patch) {
  std::string out;
  out.reserve(patch.size());
  while (!patch.empty()) {
    const std::size_t end = std::min(patch.find('\n'), patch.size());
    std::string_view line = patch.substr(0, end);
    if (line.starts_with("@@ ")) line = line.substr(0, line.find_last_not_of(" \t\r\v\f") + 1);
    out += line;
    if (end < patch.size()) out += '\n';
    patch.remove_prefix(std::min(end + 1, patch.size()));
  }
  return out;
}

}  // namespace

std::string patch(const std::string& path, const std::optional<std::string>& before,
                  const std::optional<std::string>& after) {
  ensure_library();
  const auto name = [&](const std::optional<std::string>& side) {
    return side ? path.c_str() : nullptr;
  };
  const auto bytes = [](const std::optional<std::string>& side) {
    return side ? side->data() : nullptr;
  };
  const auto size = [](const std::optional<std::string>& side) { return side ? side->size() : 0; };
  git_diff_options options;
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.flags |= GIT_DIFF_INDENT_HEURISTIC;  // as git does it: hunks begin where blocks do
  Owned<git_patch> made;
  if (git_patch_from_buffers(Receive(made), bytes(before), size(before), name(before), bytes(after),
                             size(after), name(after), &options) != 0) {
    return "";
  }
  git_buf text = GIT_BUF_INIT;
  std::string out;
  if (git_patch_to_buf(&text, made.get()) == 0) out = with_trimmed_headings({text.ptr, text.size});
  git_buf_dispose(&text);
  return out;
}

}  // namespace gpuctl::git
