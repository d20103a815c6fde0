#include "cli/code_page.hpp"

#include "cli/command.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::string_view kPrefix = "docs/codes/";
constexpr std::string_view kEnding = ".md";

// The code that a file is the page of; empty for other files.
std::string_view code_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kEnding)) return {};
  return name.substr(kPrefix.size(), name.size() - kPrefix.size() - kEnding.size());
}

}  // namespace

std::string_view code_page(std::string_view code) {
  if (code.empty()) return {};
  for (const diag::FileView& file : built_in_image().files()) {
    if (code_of(file.name) == code) return file.text;
  }
  return {};
}

std::string code_title(std::string_view code) {
  // "# GPU0004: unknown code"
  std::string_view line = code_page(code);
  line = line.substr(0, line.find('\n'));
  const std::size_t at = line.find(": ");
  return at == std::string_view::npos ? std::string() : std::string(line.substr(at + 2));
}

std::vector<std::string> codes_with_pages() {
  std::vector<std::string> out;
  for (const diag::FileView& file : built_in_image().files()) {
    if (const std::string_view code = code_of(file.name); !code.empty()) out.emplace_back(code);
  }
  return out;
}

}  // namespace gpuctl::cli
