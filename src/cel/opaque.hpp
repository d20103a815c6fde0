// The opaque values of the language itself. Those of the extension libraries (ip, quantity, ...)
// stand with their functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/value.hpp"

namespace gpuctl::cel {

/// What `type(x)` gives and what the names `int`, `string`, ... mean.
struct TypeValue final : Opaque {
  explicit TypeValue(std::string type) : name(std::move(type)) {}
  std::string type_name() const override { return "type"; }
  bool equals(const Opaque& other) const override;
  const std::string name;
};

/// A value or nothing.
struct OptionalValue final : Opaque {
  explicit OptionalValue(Value content) : value(std::move(content)), present(true) {}
  OptionalValue() = default;
  std::string type_name() const override { return "optional"; }
  bool equals(const Opaque& other) const override;
  const Value value{};
  const bool present = false;
};

/// A list with items that no Node can hold. It never leaves an expression as a document.
struct ValueList final : Opaque {
  explicit ValueList(std::vector<Value> values) : items(std::move(values)) {}
  std::string type_name() const override { return "list"; }
  bool equals(const Opaque& other) const override;
  const std::vector<Value> items;
};

/// What an optional holds, and omit() for an empty one; any other value as it is. In places where a
/// value may be left out, an expression may give an optional.
Value unwrapped(Value value);

struct MapEntry {
  yaml::Node key;  // string, integer or boolean
  Value value;
};

/// A map with values that no Node can hold.
struct ValueMap final : Opaque {
  explicit ValueMap(std::vector<MapEntry> values) : entries(std::move(values)) {}
  std::string type_name() const override { return "map"; }
  bool equals(const Opaque& other) const override;
  const std::vector<MapEntry> entries;
};

/// CEL equality: numbers by value, maps regardless of order, different types are unequal.
bool equal(const Value& a, const Value& b);
/// The same, taking a step of `steps` for each pair of values looked at, because a small
/// expression can build values that are huge when they are walked. Nothing when steps run out.
std::optional<bool> equal(const Value& a, const Value& b, std::uint64_t& steps);

/// The name CEL has for the type of a value: "int", "double", "null_type", "ip", ...
std::string type_name_of(const Value& value);

/// What `type(value)` gives: the name above, or the one that published libraries gave the type
/// ("net.IP").
std::string published_type_name(const Value& value);

/// True when `name` is the name of a type that may stand in an expression (`int`, `net.IP`, ...).
bool is_type_name(std::string_view name);

}  // namespace gpuctl::cel
