// gpuctl with the knowledge of the file `knowledge.image` beside it instead of that built in: tests
// change knowledge in a copy, pack it, and run the whole program on it without linking it again.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "cli/command.hpp"

namespace gpuctl::cli {

const catalog::Image& built_in_image() {
  static const std::string bytes = [] {
    const auto program = std::filesystem::read_symlink("/proc/self/exe");
    std::ifstream file(program.parent_path() / "knowledge.image", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  static const catalog::Image image = [] {
    std::optional<catalog::Image> opened = catalog::Image::open(bytes);
    if (!opened) throw std::runtime_error("no knowledge.image beside the program");
    return std::move(*opened);
  }();
  return image;
}

}  // namespace gpuctl::cli
