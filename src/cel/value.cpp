#include "cel/value.hpp"

#include <algorithm>
#include <array>

#include "cel/opaque.hpp"

namespace gpuctl::cel {

namespace {
struct Omit final : Opaque {
  std::string type_name() const override { return "omit"; }
  bool equals(const Opaque& other) const override {
    return dynamic_cast<const Omit*>(&other) != nullptr;
  }
};

const std::shared_ptr<const Opaque>& the_omit() {
  static const std::shared_ptr<const Opaque> instance = std::make_shared<const Omit>();
  return instance;
}
}  // namespace

Value Value::omit() {
  return Value(the_omit());
}

bool Value::is_omit() const {
  return opaque_ != nullptr && opaque_ == the_omit();
}

bool TypeValue::equals(const Opaque& other) const {
  const auto* type = dynamic_cast<const TypeValue*>(&other);
  return type != nullptr && type->name == name;
}

bool OptionalValue::equals(const Opaque& other) const {
  const auto* optional = dynamic_cast<const OptionalValue*>(&other);
  return optional != nullptr && optional->present == present &&
         (!present || equal(optional->value, value));
}

bool ValueList::equals(const Opaque& other) const {
  const auto* list = dynamic_cast<const ValueList*>(&other);
  return list != nullptr &&
         std::equal(items.begin(), items.end(), list->items.begin(), list->items.end(),
                    [](const Value& a, const Value& b) { return equal(a, b); });
}

bool equal(const Value& a, const Value& b) {
  if (a.is_node() != b.is_node()) return false;
  return a.is_node() ? yaml::equal(a.node(), b.node()) : a.opaque()->equals(*b.opaque());
}

std::string type_name_of(const Value& value) {
  if (!value.is_node()) return value.opaque()->type_name();
  switch (value.node().kind()) {
    case yaml::Kind::null:
      return "null_type";
    case yaml::Kind::boolean:
      return "bool";
    case yaml::Kind::integer:
      return "int";
    case yaml::Kind::real:
      return "double";
    case yaml::Kind::string:
      return "string";
    case yaml::Kind::list:
      return "list";
    case yaml::Kind::map:
      return "map";
  }
  return "dyn";
}

bool is_type_name(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNames = {"bool", "int", "double",    "string",
                                                             "list", "map", "null_type", "type"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace gpuctl::cel
