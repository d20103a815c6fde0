// The image that the build packed (image.S includes its bytes).
#include <cstddef>
#include <stdexcept>

#include "cli/command.hpp"

extern "C" {
extern const char gpuctl_image_begin[];  // NOLINT: linker symbols
extern const char gpuctl_image_end[];    // NOLINT
}

namespace gpuctl::cli {

const catalog::Image& built_in_image() {
  static const catalog::Image image = [] {
    const std::string_view bytes(gpuctl_image_begin,
                                 static_cast<std::size_t>(gpuctl_image_end - gpuctl_image_begin));
    std::optional<catalog::Image> opened = catalog::Image::open(bytes);
    if (!opened) throw std::logic_error("the built-in image is damaged");
    return std::move(*opened);
  }();
  return image;
}

}  // namespace gpuctl::cli
