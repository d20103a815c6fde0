#include "yaml/packed.hpp"

#include <cstring>

namespace gpuctl::yaml {

void pack_number(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7F) | 0x80);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

void pack_text(std::string& out, std::string_view text) {
  pack_number(out, text.size());
  out += text;
}

void pack(std::string& out, const Node& node) {
  out += static_cast<char>(node.kind());
  pack_number(out, node.origin());
  switch (node.kind()) {
    case Kind::null:
      break;
    case Kind::boolean:
      out += node.as_boolean() ? '\1' : '\0';
      break;
    case Kind::integer: {
      const auto bits = static_cast<std::uint64_t>(node.as_integer());
      pack_number(out, (bits << 1U) ^ (node.as_integer() < 0 ? ~std::uint64_t{0} : 0));
      break;
    }
    case Kind::real: {
      const double value = node.as_real();
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      out.append(bytes, sizeof value);
      break;
    }
    case Kind::string:
      pack_text(out, node.as_string());
      break;
    case Kind::list:
      pack_number(out, node.size());
      for (const Node& item : node.items()) pack(out, item);
      break;
    case Kind::map:
      pack_number(out, node.size());
      for (const Entry& entry : node.entries()) {
        pack(out, entry.key);
        pack(out, entry.value);
      }
      break;
  }
}

std::uint64_t Unpacker::number() {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (;;) {
    const std::uint8_t next = byte();
    value |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
    if (next < 0x80) return value;
    shift += 7;
  }
}

std::string_view Unpacker::text() {
  const std::size_t size = number();
  assert(size <= rest_.size());
  const std::string_view text = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return text;
}

Node Unpacker::tree(Arena& arena) {
  const auto kind = static_cast<Kind>(byte());
  const auto origin = static_cast<Origin>(number());
  switch (kind) {
    case Kind::null:
      return Node::null(origin);
    case Kind::boolean:
      return Node::boolean(byte() != 0, origin);
    case Kind::integer: {
      const std::uint64_t bits = number();
      return Node::integer(static_cast<std::int64_t>((bits >> 1U) ^ (~(bits & 1U) + 1U)), origin);
    }
    case Kind::real: {
      double value = 0;
      assert(rest_.size() >= sizeof value);
      std::memcpy(&value, rest_.data(), sizeof value);
      rest_.remove_prefix(sizeof value);
      return Node::real(value, origin);
    }
    case Kind::string:
      return Node::view(text(), origin);
    case Kind::list: {
      const std::size_t size = number();
      const std::size_t first = items_.size();
      for (std::size_t i = 0; i < size; ++i) items_.push_back(tree(arena));
      const Node made = arena.list(std::span(items_).subspan(first), origin);
      items_.resize(first);
      return made;
    }
    case Kind::map: {
      const std::size_t size = number();
      const std::size_t first = entries_.size();
      for (std::size_t i = 0; i < size; ++i) {
        const Node key = tree(arena);
        const Node value = tree(arena);
        entries_.push_back({key, value});
      }
      const Node made = arena.map(std::span(entries_).subspan(first), origin);
      entries_.resize(first);
      return made;
    }
  }
  return {};
}

}  // namespace gpuctl::yaml
