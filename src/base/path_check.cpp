#include "base/path_check.hpp"

#include <cstdint>
#include <vector>

#include "base/text.hpp"

namespace gpuctl::base {
namespace {

// The next code point of valid UTF-8; moves `at` behind it.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(at);
  const std::size_t more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  std::uint32_t value = more == 0 ? lead : lead & (0x3FU >> more);
  for (std::size_t i = 1; i <= more; ++i) value = value << 6 | (byte(at + i) & 0x3FU);
  at += more + 1;
  return value;
}

// Zero-width characters and directional controls: HFS+ drops most of them when it compares names,
// and no reader of a name sees them.
bool invisible(std::uint32_t code_point) {
  return (code_point >= 0x200B && code_point <= 0x200F) ||
         (code_point >= 0x2028 && code_point <= 0x202E) ||
         (code_point >= 0x2060 && code_point <= 0x206F) || code_point == 0xFEFF;
}

bool control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F);
}

bool names_git_directory(std::string_view component) {
  // NTFS: `name:stream` opens `name`.
  component = component.substr(0, component.find(':'));
  while (!component.empty() && (component.back() == '.' || component.back() == ' ')) {
    component.remove_suffix(1);
  }
  const std::string lower = to_lower(component);
  return lower == ".git" || lower == "git~1";
}

}  // namespace

std::string unsafe_path_reason(std::string_view path) {
  if (path.empty()) return "is empty";
  if (path.size() > kMostPathBytes) {
    return "is over " + std::to_string(kMostPathBytes) + " bytes long";
  }
  if (path.front() == '/') return "is absolute";
  if (!valid_utf8(path)) return "is not valid UTF-8";
  for (std::size_t at = 0; at < path.size();) {
    const std::uint32_t code_point = next_code_point(path, at);
    if (control(code_point)) return "has a control character";
    if (invisible(code_point)) return "has an invisible character";
    if (code_point == '\\') return "has a backslash";
  }
  const std::vector<std::string_view> components = split(path, '/');
  if (components.size() > kMostPathComponents) {
    return "is over " + std::to_string(kMostPathComponents) + " components deep";
  }
  for (const std::string_view component : components) {
    if (component.empty()) return "has an empty component";
    if (component == "." || component == "..") {
      return "has a `" + std::string(component) + "` component";
    }
    if (component.size() > kMostPathComponentBytes) {
      return "has a component over " + std::to_string(kMostPathComponentBytes) + " bytes";
    }
    if (names_git_directory(component)) {
      return "has a component that is `.git` on some file system";
    }
    if (component.back() == '.' || component.back() == ' ') {
      return "has a component that ends in a dot or a space";
    }
  }
  return "";
}

}  // namespace gpuctl::base
