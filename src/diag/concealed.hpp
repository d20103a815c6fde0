// Secrets that are known by their text: no message may show them, nor a large part of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace gpuctl::diag {

class Concealed {
 public:
  /// Texts of less than 4 bytes are no secrets that could be told from words.
  void add(std::string_view secret);
  bool empty() const { return windows_.empty() && short_.empty(); }
  /// `text` with `*` for each byte that lies in 8 bytes of a secret, in their order, or in a
  /// shorter secret that stands there as a word. Up to 9 bytes that are plain words, and not all
  /// of a secret, stay: a pull secret has `registry` in it, and so have many paths.
  std::string shown(std::string_view text) const;

 private:
  std::unordered_set<std::uint64_t> windows_;  // eight bytes each
  std::vector<std::string> short_;
};

}  // namespace gpuctl::diag
