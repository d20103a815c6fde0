// Static types of CEL expressions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpuctl::cel {

enum class TypeKind : std::uint8_t {
  dyn,  // anything; checked at run time
  null,
  boolean,
  integer,
  real,  // CEL double
  string,
  list,    // element()
  map,     // key(), element()
  object,  // fields(): a map with known string keys (from a structural schema)
  opaque,  // name(): ip, cidr, quantity, semver, ...
  optional,
  type,
};

class Type;

struct Field;

/// Fields of an object type. `open` objects may hold further keys of any type.
struct ObjectType;

/// An immutable, cheaply copied type.
class Type {
 public:
  Type() = default;  // dyn
  static Type dyn() { return Type(); }
  /// What an empty list holds: dyn, but gives way to any other type in join().
  static Type free();
  static Type simple(TypeKind kind);
  static Type list(Type element);
  static Type map(Type key, Type element);
  static Type object(std::shared_ptr<const ObjectType> object);
  static Type opaque(std::string name);
  static Type optional(Type element);

  TypeKind kind() const { return kind_; }
  bool is_dyn() const { return kind_ == TypeKind::dyn; }
  bool is_free() const { return free_; }
  /// Element of a list, value of a map, content of an optional; dyn otherwise.
  Type element() const;
  Type key() const;
  /// nullptr unless kind() is object.
  const ObjectType* object() const { return object_.get(); }
  const std::string& name() const { return name_; }
  /// As shown to users: `list(string)`, `map(string, int)`, `object Pool`, ...
  std::string text() const;
  /// True when a value of type `other` may stand where this type is wanted. dyn fits both ways;
  /// an object fits a map with string keys; int does not fit double.
  bool accepts(const Type& other) const;

 private:
  TypeKind kind_ = TypeKind::dyn;
  bool free_ = false;
  std::string name_;
  std::shared_ptr<const Type> element_;
  std::shared_ptr<const Type> key_;
  std::shared_ptr<const ObjectType> object_;
};

struct Field {
  std::string name;
  Type type;
  bool required = false;
};

struct ObjectType {
  std::string name;
  std::vector<Field> fields;
  bool open = false;

  const Field* find(std::string_view field) const;
};

/// The type that covers both; dyn when they have nothing in common. Of two objects it has the
/// fields of both, and those that only one has may be absent.
Type join(const Type& a, const Type& b);
/// True when a value of this static type must be looked into at run time.
bool has_dyn(const Type& type);

}  // namespace gpuctl::cel
