// CEL types of schemas, and how Kubernetes names fields in the rules of a CRD.
#include <algorithm>
#include <array>
#include <utility>

#include "schema/compiled.hpp"

namespace gpuctl::schema {

namespace {

using cel::Type;
using cel::TypeKind;
using yaml::Entry;
using yaml::Node;

// Names that are reserved in CEL and therefore escaped in rules (Kubernetes, "Escaping" in the
// documentation of validation rules).
constexpr std::array<std::string_view, 21> kReserved = {
    "true",     "false",   "null",      "in",       "as",  "break",  "const",
    "continue", "else",    "for",       "function", "if",  "import", "let",
    "loop",     "package", "namespace", "return",   "var", "void",   "while"};

/// Builds types; for rules, with escaped names and the deviations of the values noted.
class TypeBuilder {
 public:
  explicit TypeBuilder(bool for_rules) : for_rules_(for_rules) {}

  Type build(const Schema& schema, const std::string& name) {
    // The language has no "T or null".
    return schema.nullable ? Type::dyn() : build_present(schema, name);
  }
  /// The type of values that are not null.
  Type build_present(const Schema& schema, const std::string& name) {
    if (schema.int_or_string) return Type::dyn();
    if (for_rules_ && schema.type == ValueType::number) needs_view_ = true;
    return bare(schema, name);
  }
  bool needs_view() const { return needs_view_; }

 private:
  Type bare(const Schema& schema, const std::string& name) {
    switch (schema.type) {
      case ValueType::any:
        return Type::dyn();
      case ValueType::boolean:
        return Type::simple(TypeKind::boolean);
      case ValueType::integer:
        return Type::simple(TypeKind::integer);
      case ValueType::number:
        return Type::simple(TypeKind::real);
      case ValueType::string:
        return for_rules_ ? text(schema.format) : Type::simple(TypeKind::string);
      case ValueType::array:
        return Type::list(schema.items ? build(schema.items->get(), name) : Type::dyn());
      case ValueType::object:
        return object(schema, name);
    }
    return Type::dyn();
  }

  /// Texts of some formats have a type of their own in rules. Documents cannot hold values of these
  /// types, so that rules that do more than compare them must not compile.
  static Type text(Format format) {
    switch (format) {
      case Format::byte:
        return Type::opaque("bytes");
      case Format::date:
      case Format::date_time:
        return Type::opaque("timestamp");
      case Format::duration:
        return Type::opaque("duration in a document");
      default:
        return Type::simple(TypeKind::string);
    }
  }

  Type object(const Schema& schema, const std::string& name) {
    const bool fields = !schema.property_slots.empty() || schema.resource;
    if (!fields && schema.additional) {
      return Type::map(Type::simple(TypeKind::string), build(schema.additional->get(), name));
    }
    if (!fields && (schema.additional_any || schema.preserve_unknown)) {
      return Type::map(Type::simple(TypeKind::string), Type::dyn());
    }
    auto type = std::make_shared<cel::ObjectType>();
    type->name = name;
    type->open = schema.additional || schema.additional_any || schema.preserve_unknown;
    std::vector<std::string_view> names;
    for (const Entry& entry : schema.properties.entries()) names.push_back(entry.key.as_string());
    if (schema.resource) {
      for (const std::string_view always : {"apiVersion", "kind", "metadata"}) {
        if (schema.declared(always) == nullptr) names.push_back(always);
      }
    }
    for (const std::string_view field : names) add_field(schema, field, *type);
    return Type::object(std::move(type));
  }

  void add_field(const Schema& schema, std::string_view field, cel::ObjectType& type) {
    std::string as(field);
    if (for_rules_) {
      std::optional<std::string> escaped = escape_field(field);
      if (escaped && *escaped != field) {
        needs_view_ = true;
        as = *std::move(escaped);
      }
    }
    const Schema& child = *schema.property(field);
    const std::string path = type.name + "." + std::string(field);
    // After defaulting, a field with a default is never absent.
    const bool present = schema.requires_field(field) || child.default_value.has_value() ||
                         (schema.resource && (field == "metadata"));
    // In rules, a field that is null counts as absent.
    if (for_rules_ && child.nullable) needs_view_ = true;
    Type of = is_object_meta(child) ? metadata_type(path)
              : for_rules_          ? build_present(child, path)
                                    : build(child, path);
    type.fields.push_back(
        {std::move(as), std::move(of), present && !(for_rules_ && child.nullable)});
  }

  /// ObjectMeta is nullable field by field on input; in expressions it has its plain types.
  static Type metadata_type(const std::string& name) {
    const Type text = Type::simple(TypeKind::string);
    auto type = std::make_shared<cel::ObjectType>();
    type->name = name;
    type->open = true;
    type->fields = {{"name", text, false},
                    {"generateName", text, false},
                    {"namespace", text, false},
                    {"labels", Type::map(text, text), false},
                    {"annotations", Type::map(text, text), false}};
    return Type::object(std::move(type));
  }

  bool for_rules_;
  bool needs_view_ = false;
};

}  // namespace

std::optional<std::string> escape_field(std::string_view name) {
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end()) {
    return "__" + std::string(name) + "__";
  }
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (name.substr(i).starts_with("__")) {
      out += "__underscores__";
      ++i;
    } else if (c == '.') {
      out += "__dot__";
    } else if (c == '-') {
      out += "__dash__";
    } else if (c == '/') {
      out += "__slash__";
    } else if (letter || (digit && i != 0)) {
      out.push_back(c);
    } else {
      return std::nullopt;
    }
  }
  if (out.empty()) return std::nullopt;
  return out;
}

cel::Type cel_type(const Schema& schema, const std::string& name) {
  return TypeBuilder(false).build(schema, name);
}

cel::Type rule_type(const Schema& schema, const std::string& name, bool& needs_view) {
  TypeBuilder builder(true);
  // Rules are not evaluated on null.
  Type type = builder.build_present(schema, name);
  needs_view = builder.needs_view();
  return type;
}

Node rule_view(const Schema& schema, const Node& value, yaml::Arena& arena) {
  if (schema.type == ValueType::number && value.is_integer()) {
    return Node::real(value.as_real(), value.origin());
  }
  if (value.is_list() && schema.items) {
    std::vector<Node> items;
    items.reserve(value.size());
    for (const Node& item : value.items()) {
      items.push_back(rule_view(schema.items->get(), item, arena));
    }
    return arena.list(items, value.origin());
  }
  if (!value.is_map()) return value;
  std::vector<Entry> entries;
  entries.reserve(value.size());
  for (const Entry& entry : value.entries()) {
    const std::string_view name = entry.key.as_string();
    if (const Schema* own = schema.property(name)) {
      if (entry.value.is_null()) continue;
      const std::string as = escape_field(name).value_or(std::string(name));
      entries.push_back(
          {arena.string(as, entry.key.origin()), rule_view(*own, entry.value, arena)});
    } else if (schema.additional) {
      entries.push_back({entry.key, rule_view(schema.additional->get(), entry.value, arena)});
    } else {
      entries.push_back(entry);
    }
  }
  return arena.map(entries, value.origin());
}

}  // namespace gpuctl::schema
