// What may be shown of a text: knowledge that lies above this folder.
#pragma once

#include <string>
#include <string_view>

namespace gpuctl::diag {

class Mask {
 public:
  Mask() = default;
  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;
  virtual ~Mask() = default;
  /// `text` with `*` for each byte of what looks like a secret. Thread-safe.
  virtual std::string shown(std::string_view text) const = 0;
};

}  // namespace gpuctl::diag
