// Lists and maps as expressions see them, whether a document could hold them or not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cel/opaque.hpp"
#include "cel/value.hpp"
#include "yaml/node.hpp"

namespace gpuctl::cel {

/// The items of a list. The value it was made from must outlive it.
class ListView {
 public:
  /// Nothing when `value` is no list.
  static std::optional<ListView> of(const Value& value);

  std::size_t size() const { return values_ != nullptr ? values_->size() : nodes_.size(); }
  Value operator[](std::size_t i) const {
    return values_ != nullptr ? (*values_)[i] : Value(nodes_[i]);
  }

 private:
  std::span<const yaml::Node> nodes_;
  const std::vector<Value>* values_ = nullptr;
};

/// The entries of a map, in written order. The value it was made from must outlive it.
class MapView {
 public:
  /// Nothing when `value` is no map.
  static std::optional<MapView> of(const Value& value);

  std::size_t size() const { return opaque_ != nullptr ? opaque_->entries.size() : node_.size(); }
  yaml::Node key(std::size_t i) const {
    return opaque_ != nullptr ? opaque_->entries[i].key : node_.entries()[i].key;
  }
  Value value(std::size_t i) const {
    return opaque_ != nullptr ? opaque_->entries[i].value : Value(node_.entries()[i].value);
  }
  /// The value under `key`, numbers compared by value.
  std::optional<Value> find(const yaml::Node& key) const;
  /// Steps that find() is worth: only string keys of a document are found at once.
  std::uint64_t find_cost(const yaml::Node& key) const;

 private:
  yaml::Node node_;
  const ValueMap* opaque_ = nullptr;
};

/// Takes a step for every item and entry of `value`, however deep: a small expression can build
/// values that are huge when they are written out. False when too few steps are left.
bool charge_size(const Value& value, std::uint64_t& steps);

/// The type that keeps `value` from being part of a document: "ip" for `[ip("::1")]`.
std::string foreign_type(const Value& value);

/// A list of `items`: a node when every item is one. Items that are omit() are left out.
Value make_list(std::vector<Value> items, yaml::Arena& arena);
/// A map of `entries`, whose keys are distinct. Entries that are omit() are left out.
Value make_map(std::vector<MapEntry> entries, yaml::Arena& arena);

}  // namespace gpuctl::cel
