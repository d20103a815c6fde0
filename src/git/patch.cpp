#include "git/patch.hpp"

#include "git/libgit.hpp"

namespace gpuctl::git {

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
  if (git_patch_to_buf(&text, made.get()) == 0) out = {text.ptr, text.size};
  git_buf_dispose(&text);
  return out;
}

}  // namespace gpuctl::git
