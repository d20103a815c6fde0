// Trees as bytes inside of this program: what the build packs, a run unpacks. No format for files.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>

#include "yaml/node.hpp"

namespace gpuctl::yaml {

/// Appends `value` in groups of seven bits, lowest first.
void pack_number(std::string& out, std::uint64_t value);
/// Appends the length of `text` and its bytes.
void pack_text(std::string& out, std::string_view text);
/// Appends a tree with its origins.
void pack(std::string& out, const Node& node);

/// Reads what the functions above have written, in the same order. The bytes are trusted: that none
/// is missing is checked in debug builds only.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  /// What is still to be read.
  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }
  std::uint8_t byte() {
    assert(!rest_.empty());
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::uint64_t number() {
    const std::uint8_t first = byte();
    return first < 0x80 ? first : long_number(first);
  }
  /// Refers to the packed bytes.
  std::string_view text() {
    const std::size_t size = number();
    assert(size <= rest_.size());
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  /// A tree in `arena`; its strings refer to the packed bytes.
  Node tree(Arena& arena);
  /// The same, but what is large is unpacked when somebody looks into it.
  Node lazy_tree(SharedArena& arena);
  /// The scalar that is first in a packed map, which is not unpacked for it: `map.get(key)` when
  /// that is what it is called, or null. A quick look at many maps of which few will be needed.
  static Node first_scalar(const Node& map, std::string_view key);

 private:
  struct Packed;
  static Node unpack(const Deferred& self);
  std::uint64_t long_number(std::uint8_t first);
  Node scalar(Kind kind, Origin origin);
  /// Items of a list or entries of a map; `home` when large parts are to be left for later.
  Node content(Kind kind, std::size_t size, Origin origin, Arena& arena, SharedArena* home);
  Node part(Arena& arena, SharedArena* home);

  std::string_view rest_;
};

}  // namespace gpuctl::yaml
