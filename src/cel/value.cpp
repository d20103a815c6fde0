#include "cel/value.hpp"

#include <algorithm>
#include <array>
#include <limits>

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

Value unwrapped(Value value) {
  const auto* optional = dynamic_cast<const OptionalValue*>(value.opaque());
  if (optional == nullptr) return value;
  return optional->present ? optional->value : Value::omit();
}

bool Value::is_omit() const {
  return opaque_ != nullptr && opaque_ == the_omit();
}

bool TypeValue::equals(const Opaque& other) const {
  const auto* type = dynamic_cast<const TypeValue*>(&other);
  return type != nullptr && type->name == name;
}

namespace {

/// Deep equality within a budget of steps. Values nest no deeper than the expression that made
/// them plus the documents it read, so recursion is bounded.
class Comparison {
 public:
  explicit Comparison(std::uint64_t& steps) : steps_(steps) {}
  bool exhausted() const { return exhausted_; }

  bool values(const Value& a, const Value& b) {
    if (a.is_node() && b.is_node()) return nodes(a.node(), b.node());
    if (a.is_node() || b.is_node()) return false;  // an opaque list holds what no node does
    return opaques(*a.opaque(), *b.opaque());
  }

  bool opaques(const Opaque& a, const Opaque& b) {
    if (const auto* list = dynamic_cast<const ValueList*>(&a)) {
      const auto* other = dynamic_cast<const ValueList*>(&b);
      return other != nullptr && take() &&
             std::equal(list->items.begin(), list->items.end(), other->items.begin(),
                        other->items.end(),
                        [&](const Value& x, const Value& y) { return values(x, y); });
    }
    if (const auto* map = dynamic_cast<const ValueMap*>(&a)) {
      const auto* other = dynamic_cast<const ValueMap*>(&b);
      return other != nullptr && take() && map->entries.size() == other->entries.size() &&
             std::all_of(map->entries.begin(), map->entries.end(), [&](const MapEntry& entry) {
               return std::any_of(
                   other->entries.begin(), other->entries.end(), [&](const MapEntry& candidate) {
                     return nodes(entry.key, candidate.key) && values(entry.value, candidate.value);
                   });
             });
    }
    if (const auto* optional = dynamic_cast<const OptionalValue*>(&a)) {
      const auto* other = dynamic_cast<const OptionalValue*>(&b);
      return other != nullptr && take() && optional->present == other->present &&
             (!optional->present || values(optional->value, other->value));
    }
    return a.equals(b);
  }

 private:
  bool take() {
    if (steps_ == 0) exhausted_ = true;
    if (exhausted_) return false;
    --steps_;
    return true;
  }

  bool nodes(const yaml::Node& a, const yaml::Node& b) {
    if (a.is_scalar() || b.is_scalar()) {
      constexpr std::size_t kBytesPerStep = 64;
      const std::size_t cost = std::min(a.size(), b.size()) / kBytesPerStep;
      if (a.is_string() && b.is_string() && cost > 0) {
        if (steps_ < cost) exhausted_ = true;
        if (exhausted_) return false;
        steps_ -= cost;
      }
      return yaml::equal(a, b);
    }
    if (a.kind() != b.kind() || a.size() != b.size()) return false;
    if (a.is_list()) {
      return std::equal(
          a.items().begin(), a.items().end(), b.items().begin(),
          [&](const yaml::Node& x, const yaml::Node& y) { return take() && nodes(x, y); });
    }
    return std::all_of(a.entries().begin(), a.entries().end(), [&](const yaml::Entry& entry) {
      const yaml::Node* other = take() ? b.find(entry.key) : nullptr;
      return other != nullptr && nodes(entry.value, *other);
    });
  }

  std::uint64_t& steps_;
  bool exhausted_ = false;
};

bool equal_opaques(const Opaque& a, const Opaque& b) {
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();
  return Comparison(steps).opaques(a, b);
}

}  // namespace

bool OptionalValue::equals(const Opaque& other) const {
  return equal_opaques(*this, other);
}
bool ValueList::equals(const Opaque& other) const {
  return equal_opaques(*this, other);
}
bool ValueMap::equals(const Opaque& other) const {
  return equal_opaques(*this, other);
}

bool equal(const Value& a, const Value& b) {
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();
  return Comparison(steps).values(a, b);
}

std::optional<bool> equal(const Value& a, const Value& b, std::uint64_t& steps) {
  Comparison comparison(steps);
  const bool result = comparison.values(a, b);
  if (comparison.exhausted()) return std::nullopt;
  return result;
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

namespace {
// The names under which the published libraries know the types of their values.
struct Published {
  std::string_view own;
  std::string_view name;
};
constexpr std::array<Published, 8> kPublished = {{{"ip", "net.IP"},
                                                  {"cidr", "net.CIDR"},
                                                  {"duration", "google.protobuf.Duration"},
                                                  {"optional", "optional_type"},
                                                  {"quantity", "kubernetes.Quantity"},
                                                  {"semver", "kubernetes.Semver"},
                                                  {"url", "kubernetes.URL"},
                                                  {"format", "kubernetes.NamedFormat"}}};
}  // namespace

std::string published_type_name(const Value& value) {
  std::string name = type_name_of(value);
  for (const Published& published : kPublished) {
    if (published.own == name) return std::string(published.name);
  }
  return name;
}

bool is_type_name(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNames = {"bool", "int", "double",    "string",
                                                             "list", "map", "null_type", "type"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kPublished.begin(), kPublished.end(),
                     [&](const Published& published) { return published.name == name; });
}

}  // namespace gpuctl::cel
