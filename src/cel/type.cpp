#include "cel/type.hpp"

#include <algorithm>

namespace gpuctl::cel {

namespace {
// Schemas are trees of bounded depth; the bound guards against a type that refers to itself.
constexpr int kDeepestComparison = 64;

bool accepts_within(const Type& wanted, const Type& given, int depth);

bool object_accepts(const ObjectType& wanted, const ObjectType& given, int depth) {
  if (&wanted == &given) return true;
  return std::all_of(wanted.fields.begin(), wanted.fields.end(), [&](const Field& field) {
    const Field* other = given.find(field.name);
    if (other == nullptr) return !field.required || given.open;
    return accepts_within(field.type, other->type, depth + 1);
  });
}

bool accepts_within(const Type& wanted, const Type& given, int depth) {
  if (depth > kDeepestComparison) return true;
  if (wanted.is_dyn() || given.is_dyn()) return true;
  const Type string = Type::simple(TypeKind::string);
  switch (wanted.kind()) {
    case TypeKind::list:
    case TypeKind::optional:
      return given.kind() == wanted.kind() &&
             accepts_within(wanted.element(), given.element(), depth + 1);
    case TypeKind::map:
      if (given.kind() == TypeKind::object) {
        const auto& fields = given.object()->fields;
        return accepts_within(wanted.key(), string, depth + 1) &&
               std::all_of(fields.begin(), fields.end(), [&](const Field& field) {
                 return accepts_within(wanted.element(), field.type, depth + 1);
               });
      }
      return given.kind() == TypeKind::map &&
             accepts_within(wanted.key(), given.key(), depth + 1) &&
             accepts_within(wanted.element(), given.element(), depth + 1);
    case TypeKind::object:
      if (given.kind() == TypeKind::map) return accepts_within(string, given.key(), depth + 1);
      return given.kind() == TypeKind::object &&
             object_accepts(*wanted.object(), *given.object(), depth);
    case TypeKind::opaque:
      return given.kind() == TypeKind::opaque && given.name() == wanted.name();
    default:
      return given.kind() == wanted.kind();
  }
}

/// A part of a type; nullptr stands for dyn, and the one free type is shared.
std::shared_ptr<const Type> part(Type type) {
  static const auto free = std::make_shared<const Type>(Type::free());
  if (type.is_free()) return free;
  return type.is_dyn() ? nullptr : std::make_shared<const Type>(std::move(type));
}
}  // namespace

Type Type::free() {
  Type type;
  type.free_ = true;
  return type;
}

Type Type::simple(TypeKind kind) {
  Type type;
  type.kind_ = kind;
  return type;
}

Type Type::list(Type element) {
  Type type = simple(TypeKind::list);
  type.element_ = part(std::move(element));
  return type;
}

Type Type::map(Type key, Type element) {
  Type type = simple(TypeKind::map);
  type.key_ = part(std::move(key));
  type.element_ = part(std::move(element));
  return type;
}

Type Type::object(std::shared_ptr<const ObjectType> object) {
  if (object == nullptr) return map(simple(TypeKind::string), dyn());
  Type type = simple(TypeKind::object);
  type.object_ = std::move(object);
  return type;
}

Type Type::opaque(std::string name) {
  Type type = simple(TypeKind::opaque);
  type.name_ = std::move(name);
  return type;
}

Type Type::optional(Type element) {
  Type type = simple(TypeKind::optional);
  type.element_ = part(std::move(element));
  return type;
}

Type Type::element() const {
  return element_ == nullptr ? Type() : *element_;
}

Type Type::key() const {
  if (kind_ == TypeKind::object) return simple(TypeKind::string);
  return key_ == nullptr ? Type() : *key_;
}

std::string Type::text() const {
  switch (kind_) {
    case TypeKind::dyn:
      return "dyn";
    case TypeKind::null:
      return "null";
    case TypeKind::boolean:
      return "bool";
    case TypeKind::integer:
      return "int";
    case TypeKind::real:
      return "double";
    case TypeKind::string:
      return "string";
    case TypeKind::list:
      return "list(" + element().text() + ")";
    case TypeKind::map:
      return "map(" + key().text() + ", " + element().text() + ")";
    case TypeKind::object:
      return object_->name.empty() ? "object" : "object " + object_->name;
    case TypeKind::opaque:
      return name_;
    case TypeKind::optional:
      return "optional(" + element().text() + ")";
    case TypeKind::type:
      return "type";
  }
  return "dyn";
}

bool Type::accepts(const Type& other) const {
  return accepts_within(*this, other, 0);
}

namespace {

// Of two objects one that has the fields of both: what only one has may be absent.
Type join_objects(const ObjectType& a, const ObjectType& b) {
  auto joined = std::make_shared<ObjectType>();
  joined->name = a.name == b.name ? a.name : a.name + " or " + b.name;
  joined->open = a.open || b.open;
  for (const Field& field : a.fields) {
    const Field* other = b.find(field.name);
    joined->fields.push_back({field.name,
                              other == nullptr ? field.type : join(field.type, other->type),
                              other != nullptr && field.required && other->required});
  }
  for (const Field& field : b.fields) {
    if (a.find(field.name) == nullptr) joined->fields.push_back({field.name, field.type, false});
  }
  return Type::object(std::move(joined));
}

}  // namespace

Type join(const Type& a, const Type& b) {
  if (a.is_free()) return b;
  if (b.is_free()) return a;
  if (a.is_dyn() || b.is_dyn()) return Type::dyn();
  // Values of these types may be null; the published checker has it so, too.
  const auto nullable = [](const Type& type) {
    return type.kind() == TypeKind::opaque || type.kind() == TypeKind::optional;
  };
  if (a.kind() == TypeKind::null && nullable(b)) return b;
  if (b.kind() == TypeKind::null && nullable(a)) return a;
  const bool a_map = a.kind() == TypeKind::map || a.kind() == TypeKind::object;
  const bool b_map = b.kind() == TypeKind::map || b.kind() == TypeKind::object;
  if (a_map && b_map) {
    if (a.kind() == TypeKind::object && a.object() == b.object()) return a;
    if (a.object() != nullptr && b.object() != nullptr) {
      return join_objects(*a.object(), *b.object());
    }
    const auto element = [](const Type& type) {
      return type.kind() == TypeKind::map ? type.element() : Type::dyn();
    };
    return Type::map(join(a.key(), b.key()), join(element(a), element(b)));
  }
  if (a.kind() != b.kind()) return Type::dyn();
  switch (a.kind()) {
    case TypeKind::list:
      return Type::list(join(a.element(), b.element()));
    case TypeKind::optional:
      return Type::optional(join(a.element(), b.element()));
    case TypeKind::opaque:
      return a.name() == b.name() ? a : Type::dyn();
    default:
      return a;
  }
}

bool has_dyn(const Type& type) {
  switch (type.kind()) {
    case TypeKind::dyn:
      return true;
    case TypeKind::list:
    case TypeKind::optional:
      return has_dyn(type.element());
    case TypeKind::map:
      return has_dyn(type.key()) || has_dyn(type.element());
    default:
      return false;
  }
}

const Field* ObjectType::find(std::string_view field) const {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const Field& candidate) { return candidate.name == field; });
  return at == fields.end() ? nullptr : &*at;
}

}  // namespace gpuctl::cel
