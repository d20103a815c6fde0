// The one data model of the engine: blueprints, provider data, derived clusters, CEL values and
// rendered documents are all Nodes.
//
// A Node is a small immutable value (24 bytes) that points into an Arena; copying it is free.
// The arena must outlive every node made in it. Maps keep the order in which they were written.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/once.hpp"
#include "diag/sources.hpp"

namespace gpuctl::yaml {

using diag::kNoOrigin;
using diag::Origin;

enum class Kind : std::uint8_t { null, boolean, integer, real, string, list, map };

/// "null", "boolean", "integer", "number", "string", "list", "map".
std::string_view kind_name(Kind kind);

struct Entry;
struct MapIndex;
class Deferred;

class Node {
 public:
  /// null of unknown origin.
  constexpr Node() = default;

  static Node null(Origin origin = kNoOrigin);
  static Node boolean(bool value, Origin origin = kNoOrigin);
  static Node integer(std::int64_t value, Origin origin = kNoOrigin);
  static Node real(double value, Origin origin = kNoOrigin);
  /// Refers to `text`, which must outlive the node. Arena::string copies.
  static Node view(std::string_view text, Origin origin = kNoOrigin) {
    Node node;
    node.kind_ = Kind::string;
    node.payload_.text = text.data();
    node.size_ = static_cast<std::uint32_t>(text.size());
    node.origin_ = origin;
    return node;
  }
  /// A list or map of `size` items or entries that `content` makes when somebody looks into it.
  static Node later(Kind kind, std::size_t size, const Deferred& content, Origin origin);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_integer() const { return kind_ == Kind::integer; }
  bool is_real() const { return kind_ == Kind::real; }
  bool is_number() const { return is_integer() || is_real(); }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_map() const { return kind_ == Kind::map; }
  bool is_scalar() const { return kind_ < Kind::list; }

  /// The value; false, 0, 0.0, "" when the node is of another kind (as_real converts integers).
  bool as_boolean() const { return is_boolean() && payload_.boolean; }
  std::int64_t as_integer() const { return is_integer() ? payload_.integer : 0; }
  double as_real() const;
  std::string_view as_string() const {
    return is_string() ? std::string_view(payload_.text, size_) : std::string_view();
  }

  /// Items of a list; empty for every other kind.
  std::span<const Node> items() const {
    if (!is_list()) return {};
    return {deferred_ ? content().payload_.items : payload_.items, size_};
  }
  /// Entries of a map in written order; empty for every other kind.
  std::span<const Entry> entries() const;
  /// Items of a list, entries of a map, bytes of a string; 0 otherwise.
  std::size_t size() const { return kind_ >= Kind::string ? size_ : 0; }

  /// The value under a string key, or nullptr (also when this is no map). Constant time.
  const Node* find(std::string_view key) const;
  /// The value under any key (CEL maps may have boolean and integer keys).
  const Node* find(const Node& key) const;
  /// The entry under a string key (for the key's own origin), or nullptr.
  const Entry* find_entry(std::string_view key) const;
  /// The value under a string key, or null.
  Node get(std::string_view key) const;
  /// Follows `keys` through maps; null when one is absent.
  Node get(std::initializer_list<std::string_view> keys) const;

  Origin origin() const { return origin_; }
  Node with_origin(Origin origin) const;
  /// Of a list or map that is made when somebody looks into it, or nullptr.
  const Deferred* deferred() const { return deferred_ ? payload_.deferred : nullptr; }

 private:
  friend class Arena;
  union Payload {
    bool boolean;
    std::int64_t integer;
    double real;
    const char* text;
    const Node* items;
    const Entry* entries;
    const MapIndex* index;
    const Deferred* deferred;
  };
  /// Of a deferred list or map: what was made of it.
  const Node& content() const;
  /// Of a map that is not deferred.
  const Entry* first_entry() const;
  Payload payload_ = {.integer = 0};
  std::uint32_t size_ = 0;
  Origin origin_ = kNoOrigin;
  Kind kind_ = Kind::null;
  bool deferred_ = false;
  bool indexed_ = false;  // only maps over kIndexedSize entries
};

// Trees are most of what a run has in memory, and reading them most of what it waits for.
static_assert(sizeof(void*) != 8 || sizeof(Node) == 24);

struct Entry {
  Node key;
  Node value;
};

/// The entries of a large map, with an open-addressed hash index of their places.
struct MapIndex {
  const Entry* entries = nullptr;
  const std::uint32_t* slots = nullptr;
  std::uint32_t mask = 0;
};

inline const Entry* Node::first_entry() const {
  return indexed_ ? payload_.index->entries : payload_.entries;
}

inline std::span<const Entry> Node::entries() const {
  if (!is_map()) return {};
  return {deferred_ ? content().first_entry() : first_entry(), size_};
}

/// A list or map that is made at most once, by whichever thread looks into it first. It lives in
/// an arena like what it makes, so it must own nothing.
class Deferred {
 public:
  /// Makes the list or map. May look into other deferred ones, not into itself.
  using Make = Node (*)(const Deferred& self);
  explicit Deferred(Make make) : make_(make) {}
  bool is_made_by(Make make) const { return make_ == make; }
  const Node& made() const {
    once_.call([this] { node_ = make_(*this); });
    return node_;
  }

 private:
  Make make_;
  mutable base::Once once_;
  mutable Node node_;
};

inline const Node& Node::content() const {
  return payload_.deferred->made();
}

/// Deep equality. Integers and reals compare by value (1 == 1.0), maps regardless of order,
/// NaN differs from itself. Origins do not count.
bool equal(const Node& a, const Node& b);

/// Owner of nodes. Allocation is a pointer bump; everything is freed with the arena.
class Arena {
 public:
  Arena();
  /// An arena whose first block has `first_block` bytes, for owners that hold little.
  explicit Arena(std::size_t first_block);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A copy of `text` that lives as long as the arena.
  std::string_view copy(std::string_view text);
  Node string(std::string_view text, Origin origin = kNoOrigin);
  Node list(std::span<const Node> items, Origin origin = kNoOrigin);
  /// Keys must be distinct; the caller checks.
  Node map(std::span<const Entry> entries, Origin origin = kNoOrigin);
  Entry entry(std::string_view key, Node value, Origin key_origin = kNoOrigin);
  /// Memory for `size` nodes or entries. Whoever constructs all of them there has a list or map of
  /// them without a copy: placed_list(), placed_map().
  template <typename T>
  T* room(std::size_t size) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(memory_.allocate(size * sizeof(T), alignof(T)));
  }
  Node placed_list(std::span<const Node> items, Origin origin);
  Node placed_map(std::span<const Entry> entries, Origin origin);
  /// The same without an index: for a map that is soon replaced, whatever its size.
  Node passing_map(std::span<const Entry> entries, Origin origin);
  /// A deep copy of a tree that lives in another arena.
  Node clone(const Node& node);
  /// An object that owns nothing, for as long as the arena lives.
  template <typename T, typename... Arguments>
  const T& make(Arguments&&... arguments) {
    return *std::construct_at(room<T>(1), std::forward<Arguments>(arguments)...);
  }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

/// An arena for what several threads defer and make.
struct SharedArena {
  Node map(std::span<const Entry> entries, Origin origin) {
    const std::lock_guard<std::mutex> guard(mutex);
    return arena.map(entries, origin);
  }
  std::mutex mutex;
  Arena arena;  // guarded by it
};

/// A deep copy that stands nowhere: for values whose places would mislead, or are gone.
Node without_origins(const Node& tree, Arena& arena);

/// Builds a map in order, replacing the value of a key that is set again.
class MapBuilder {
 public:
  MapBuilder() = default;
  /// Starts from the entries of `map` (nothing when it is no map).
  explicit MapBuilder(const Node& map);
  void set(Arena& arena, std::string_view key, Node value, Origin key_origin = kNoOrigin);
  void set(Node key, Node value);
  void remove(std::string_view key);
  const Node* find(std::string_view key) const;
  bool empty() const { return entries_.empty(); }
  std::span<const Entry> entries() const { return entries_; }
  Node build(Arena& arena, Origin origin = kNoOrigin) const { return arena.map(entries_, origin); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace gpuctl::yaml
