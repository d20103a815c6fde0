#include "yaml/node.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/digest.hpp"

namespace gpuctl::yaml {

namespace {
// Up to this size a scan costs no more than a hash, and an index more than it brings: most maps of
// that size are read a few times.
constexpr std::size_t kIndexedSize = 24;
constexpr std::uint32_t kFree = ~std::uint32_t{0};

std::size_t hash_key(const Node& key) {
  switch (key.kind()) {
    case Kind::string:
      return base::quick_digest(key.as_string());
    case Kind::integer:
      return std::hash<double>{}(static_cast<double>(key.as_integer()));
    case Kind::real:
      return std::hash<double>{}(key.as_real());
    case Kind::boolean:
      return key.as_boolean() ? 1 : 2;
    default:
      return 0;
  }
}

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "boolean";
    case Kind::integer:
      return "integer";
    case Kind::real:
      return "number";
    case Kind::string:
      return "string";
    case Kind::list:
      return "list";
    case Kind::map:
      return "map";
  }
  return "unknown";
}

Node Node::null(Origin origin) {
  return Node().with_origin(origin);
}

Node Node::boolean(bool value, Origin origin) {
  Node node;
  node.kind_ = Kind::boolean;
  node.payload_.boolean = value;
  node.origin_ = origin;
  return node;
}

Node Node::integer(std::int64_t value, Origin origin) {
  Node node;
  node.kind_ = Kind::integer;
  node.payload_.integer = value;
  node.origin_ = origin;
  return node;
}

Node Node::real(double value, Origin origin) {
  Node node;
  node.kind_ = Kind::real;
  node.payload_.real = value;
  node.origin_ = origin;
  return node;
}

Node Node::later(Kind kind, std::size_t size, const Deferred& content, Origin origin) {
  Node node;
  node.kind_ = kind;
  node.deferred_ = true;
  node.payload_.deferred = &content;
  node.size_ = static_cast<std::uint32_t>(size);
  node.origin_ = origin;
  return node;
}

double Node::as_real() const {
  if (is_integer()) return static_cast<double>(payload_.integer);
  return is_real() ? payload_.real : 0.0;
}

const Node* Node::find(const Node& key) const {
  if (!is_map()) return nullptr;
  if (deferred_) return content().find(key);
  if (indexed_) {
    const MapIndex& index = *payload_.index;
    for (std::uint32_t slot = static_cast<std::uint32_t>(hash_key(key)) & index.mask;;
         slot = (slot + 1) & index.mask) {
      const std::uint32_t at = index.slots[slot];
      if (at == kFree) return nullptr;
      if (equal(index.entries[at].key, key)) return &index.entries[at].value;
    }
  }
  for (const Entry& entry : entries()) {
    if (equal(entry.key, key)) return &entry.value;
  }
  return nullptr;
}

const Entry* Node::find_entry(std::string_view key) const {
  if (!is_map()) return nullptr;
  if (deferred_) return content().find_entry(key);
  // Keys of one length are many: most differ in the first byte, which spares a call.
  const auto is_key = [key](const Node& written) {
    return written.size_ == key.size() && written.is_string() &&
           (key.empty() || (*written.payload_.text == key.front() && written.as_string() == key));
  };
  if (!indexed_) {
    const Entry* const end = payload_.entries + size_;
    for (const Entry* entry = payload_.entries; entry != end; ++entry) {
      if (is_key(entry->key)) return entry;
    }
    return nullptr;
  }
  const MapIndex& index = *payload_.index;
  for (std::uint32_t slot = static_cast<std::uint32_t>(base::quick_digest(key)) & index.mask;;
       slot = (slot + 1) & index.mask) {
    const std::uint32_t at = index.slots[slot];
    if (at == kFree) return nullptr;
    const Entry& entry = index.entries[at];
    if (is_key(entry.key)) return &entry;
  }
}

const Node* Node::find(std::string_view key) const {
  const Entry* entry = find_entry(key);
  return entry == nullptr ? nullptr : &entry->value;
}

Node Node::get(std::string_view key) const {
  const Node* found = find(key);
  return found == nullptr ? Node() : *found;
}

Node Node::get(std::initializer_list<std::string_view> keys) const {
  Node node = *this;
  for (const std::string_view key : keys) node = node.get(key);
  return node;
}

Node Node::with_origin(Origin origin) const {
  Node node = *this;
  node.origin_ = origin;
  return node;
}

bool equal(const Node& a, const Node& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integer() && b.is_integer()) return a.as_integer() == b.as_integer();
    return a.as_real() == b.as_real();
  }
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::null:
      return true;
    case Kind::boolean:
      return a.as_boolean() == b.as_boolean();
    case Kind::string:
      return a.as_string() == b.as_string();
    case Kind::list:
      return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                        equal);
    case Kind::map:
      return a.size() == b.size() &&
             std::all_of(a.entries().begin(), a.entries().end(), [&](const Entry& entry) {
               const Node* other = b.find(entry.key);
               return other != nullptr && equal(entry.value, *other);
             });
    default:
      return false;
  }
}

namespace {
constexpr std::size_t kFirstBlockBytes = 16 * 1024;
}

Arena::Arena() : Arena(kFirstBlockBytes) {}

Arena::Arena(std::size_t first_block) : memory_(first_block) {}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return {};
  char* to = static_cast<char*>(memory_.allocate(text.size(), 1));
  std::memcpy(to, text.data(), text.size());
  return {to, text.size()};
}

Node Arena::string(std::string_view text, Origin origin) {
  return Node::view(copy(text), origin);
}

Node Arena::list(std::span<const Node> items, Origin origin) {
  if (items.empty()) return placed_list({}, origin);
  Node* to = room<Node>(items.size());
  std::uninitialized_copy(items.begin(), items.end(), to);
  return placed_list({to, items.size()}, origin);
}

Node Arena::placed_list(std::span<const Node> items, Origin origin) {
  Node node;
  node.kind_ = Kind::list;
  node.origin_ = origin;
  node.size_ = static_cast<std::uint32_t>(items.size());
  node.payload_.items = items.data();
  return node;
}

Node Arena::map(std::span<const Entry> entries, Origin origin) {
  if (entries.empty()) return placed_map({}, origin);
  Entry* to = room<Entry>(entries.size());
  std::uninitialized_copy(entries.begin(), entries.end(), to);
  return placed_map({to, entries.size()}, origin);
}

Node Arena::passing_map(std::span<const Entry> entries, Origin origin) {
  Node node;
  node.kind_ = Kind::map;
  node.origin_ = origin;
  node.size_ = static_cast<std::uint32_t>(entries.size());
  node.payload_.entries = entries.data();
  return node;
}

Node Arena::placed_map(std::span<const Entry> entries, Origin origin) {
  Node node = passing_map(entries, origin);
  if (entries.size() > kIndexedSize) {
    const std::size_t capacity = std::bit_ceil(entries.size() * 2);
    auto* slots = room<std::uint32_t>(capacity);
    std::uninitialized_fill_n(slots, capacity, kFree);
    const auto mask = static_cast<std::uint32_t>(capacity - 1);
    for (std::uint32_t i = 0; i < node.size_; ++i) {
      std::uint32_t slot = static_cast<std::uint32_t>(hash_key(entries[i].key)) & mask;
      while (slots[slot] != kFree) slot = (slot + 1) & mask;
      slots[slot] = i;
    }
    node.payload_.index = &make<MapIndex>(MapIndex{entries.data(), slots, mask});
    node.indexed_ = true;
  }
  return node;
}

Entry Arena::entry(std::string_view key, Node value, Origin key_origin) {
  return {string(key, key_origin), value};
}

Node Arena::clone(const Node& node) {
  switch (node.kind()) {
    case Kind::string:
      return string(node.as_string(), node.origin());
    case Kind::list: {
      std::vector<Node> items;
      items.reserve(node.size());
      for (const Node& item : node.items()) items.push_back(clone(item));
      return list(items, node.origin());
    }
    case Kind::map: {
      std::vector<Entry> entries;
      entries.reserve(node.size());
      for (const Entry& entry : node.entries()) {
        entries.push_back({clone(entry.key), clone(entry.value)});
      }
      return map(entries, node.origin());
    }
    default:
      return node;
  }
}

MapBuilder::MapBuilder(const Node& map) : entries_(map.entries().begin(), map.entries().end()) {}

void MapBuilder::set(Node key, Node value) {
  for (Entry& entry : entries_) {
    if (equal(entry.key, key)) {
      entry.value = value;
      return;
    }
  }
  entries_.push_back({key, value});
}

void MapBuilder::set(Arena& arena, std::string_view key, Node value, Origin key_origin) {
  for (Entry& entry : entries_) {
    if (entry.key.is_string() && entry.key.as_string() == key) {
      entry.value = value;
      return;
    }
  }
  entries_.push_back(arena.entry(key, value, key_origin));
}

void MapBuilder::remove(std::string_view key) {
  std::erase_if(entries_, [&](const Entry& entry) {
    return entry.key.is_string() && entry.key.as_string() == key;
  });
}

const Node* MapBuilder::find(std::string_view key) const {
  for (const Entry& entry : entries_) {
    if (entry.key.is_string() && entry.key.as_string() == key) return &entry.value;
  }
  return nullptr;
}

Node without_origins(const Node& tree, Arena& arena) {
  switch (tree.kind()) {
    case Kind::list: {
      std::vector<Node> items;
      for (const Node& item : tree.items()) items.push_back(without_origins(item, arena));
      return arena.list(items);
    }
    case Kind::map: {
      std::vector<Entry> entries;
      for (const Entry& entry : tree.entries()) {
        entries.push_back({without_origins(entry.key, arena), without_origins(entry.value, arena)});
      }
      return arena.map(entries);
    }
    case Kind::string:
      return arena.string(tree.as_string());
    default:
      return tree.with_origin(kNoOrigin);
  }
}

}  // namespace gpuctl::yaml
