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
}  // namespace

Type Type::simple(TypeKind kind) {
  Type type;
  type.kind_ = kind;
  return type;
}

Type Type::list(Type element) {
  Type type = simple(TypeKind::list);
  if (!element.is_dyn()) type.element_ = std::make_shared<const Type>(std::move(element));
  return type;
}

Type Type::map(Type key, Type element) {
  Type type = simple(TypeKind::map);
  if (!key.is_dyn()) type.key_ = std::make_shared<const Type>(std::move(key));
  if (!element.is_dyn()) type.element_ = std::make_shared<const Type>(std::move(element));
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
  if (!element.is_dyn()) type.element_ = std::make_shared<const Type>(std::move(element));
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

const Field* ObjectType::find(std::string_view field) const {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const Field& candidate) { return candidate.name == field; });
  return at == fields.end() ? nullptr : &*at;
}

}  // namespace gpuctl::cel
