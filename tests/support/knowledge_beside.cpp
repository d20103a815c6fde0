// gpuctl with the knowledge of the file `knowledge.image` beside it instead of that built in: tests
// change knowledge in a copy, pack it, and run the whole program on it without linking it again.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "cli/command.hpp"

namespace gpuctl::cli {

const catalog::Image& built_in_image() {
  // Mapped: to read it would take longer than most runs of a test.
  static const std::string_view bytes = [] {
    const auto file =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "knowledge.image";
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return std::string_view();
    const auto size = static_cast<std::size_t>(std::filesystem::file_size(file));
    void* const place = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    ::close(descriptor);
    return place == MAP_FAILED ? std::string_view()
                               : std::string_view(static_cast<const char*>(place), size);
  }();
  static const catalog::Image image = [] {
    std::optional<catalog::Image> opened = catalog::Image::open(bytes);
    if (!opened) throw std::runtime_error("no knowledge.image beside the program");
    return std::move(*opened);
  }();
  return image;
}

}  // namespace gpuctl::cli
