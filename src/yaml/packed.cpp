#include "yaml/packed.hpp"

#include <cstring>
#include <memory>

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
  const Origin origin = node.origin();
  char place[sizeof origin];
  std::memcpy(place, &origin, sizeof origin);
  out.append(place, sizeof origin);
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
    case Kind::map: {
      std::string content;
      for (const Node& item : node.items()) pack(content, item);
      for (const Entry& entry : node.entries()) {
        pack(content, entry.key);
        pack(content, entry.value);
      }
      pack_number(out, node.size());
      pack_text(out, content);
      break;
    }
  }
}

std::uint64_t Unpacker::long_number(std::uint8_t first) {
  std::uint64_t value = first & 0x7FU;
  for (unsigned shift = 7;; shift += 7) {
    const std::uint8_t next = byte();
    value |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
    if (next < 0x80) return value;
  }
}

Node Unpacker::scalar(Kind kind, Origin origin) {
  switch (kind) {
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
    default:
      return Node::null(origin);
  }
}

// The content of a list or map, where it stands in packed bytes.
struct Unpacker::Packed : Deferred {
  Packed(Kind of, std::size_t items, std::string_view packed, SharedArena& arena)
      : Deferred(unpack), kind(of), size(items), bytes(packed), home(arena) {}
  Kind kind;
  std::size_t size;
  std::string_view bytes;
  SharedArena& home;
};

Node Unpacker::unpack(const Deferred& self) {
  const auto& packed = static_cast<const Packed&>(self);
  const std::lock_guard<std::mutex> guard(packed.home.mutex);
  return Unpacker(packed.bytes)
      .content(packed.kind, packed.size, kNoOrigin, packed.home.arena, &packed.home);
}

Node Unpacker::part(Arena& arena, SharedArena* home) {
  // Less is unpacked faster than it is put off.
  constexpr std::size_t kPutOff = 96;
  const auto kind = static_cast<Kind>(byte());
  Origin origin = kNoOrigin;
  assert(rest_.size() >= sizeof origin);
  std::memcpy(&origin, rest_.data(), sizeof origin);
  rest_.remove_prefix(sizeof origin);
  if (kind == Kind::string) return Node::view(text(), origin);  // most are
  if (kind < Kind::list) return scalar(kind, origin);
  const std::size_t size = number();
  const std::string_view bytes = text();
  if (home != nullptr && bytes.size() >= kPutOff) {
    return Node::later(kind, size, arena.make<Packed>(kind, size, bytes, *home), origin);
  }
  return Unpacker(bytes).content(kind, size, origin, arena, home);
}

Node Unpacker::content(Kind kind, std::size_t size, Origin origin, Arena& arena,
                       SharedArena* home) {
  if (kind == Kind::list) {
    Node* const items = arena.room<Node>(size);
    for (std::size_t i = 0; i < size; ++i) std::construct_at(items + i, part(arena, home));
    return arena.placed_list({items, size}, origin);
  }
  Entry* const entries = arena.room<Entry>(size);
  for (std::size_t i = 0; i < size; ++i) {
    const Node key = part(arena, home);
    std::construct_at(entries + i, Entry{key, part(arena, home)});
  }
  return arena.placed_map({entries, size}, origin);
}

Node Unpacker::first_scalar(const Node& map, std::string_view key) {
  const Deferred* later = map.deferred();
  if (later == nullptr || !later->is_made_by(unpack) || map.size() == 0) return {};
  Unpacker reader(static_cast<const Packed&>(*later).bytes);
  const auto next = [&reader] {
    const auto kind = static_cast<Kind>(reader.byte());
    if (kind >= Kind::list) return Node();
    Origin origin = kNoOrigin;
    std::memcpy(&origin, reader.rest_.data(), sizeof origin);
    reader.rest_.remove_prefix(sizeof origin);
    return reader.scalar(kind, origin);
  };
  return next().as_string() == key ? next() : Node();
}

Node Unpacker::tree(Arena& arena) {
  return part(arena, nullptr);
}

Node Unpacker::lazy_tree(SharedArena& home) {
  const std::lock_guard<std::mutex> guard(home.mutex);
  return part(home.arena, &home);
}

}  // namespace gpuctl::yaml
