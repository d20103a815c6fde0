#include "schema/structural.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace gpuctl::schema {

namespace {

using yaml::Entry;
using yaml::Node;

diag::Origin origin_of(const Node& map, std::string_view key) {
  const Entry* entry = map.find_entry(key);
  if (entry == nullptr) return map.origin();
  return entry->key.origin() != diag::kNoOrigin ? entry->key.origin() : entry->value.origin();
}

bool is_true(const Node& definition, std::string_view key) {
  return definition.get(key).as_boolean();
}

/// `[{type: integer}, {type: string}]`, which controller generators write beside
/// x-kubernetes-int-or-string: the one case where a restriction may name a type.
bool is_int_or_string_pattern(const Node& branches) {
  const auto only_type = [](const Node& branch, std::string_view type) {
    return branch.size() == 1 && branch.get("type").as_string() == type;
  };
  return branches.is_list() && branches.size() == 2 && only_type(branches.items()[0], "integer") &&
         only_type(branches.items()[1], "string");
}

class StructureCheck {
 public:
  StructureCheck(Schema& schema, bool root) : schema_(schema), root_(root) {}

  void run() {
    for (std::optional<Bound>* bound : {&schema_.minimum, &schema_.maximum}) {
      if (*bound && !(*bound)->value.is_number()) {
        fault(schema_.definition.origin(),
              "an exclusive limit needs `minimum` or `maximum` beside it");
        bound->reset();
      }
    }
    if (schema_.role == Role::restriction) return;
    check_type();
    check_lists();
    check_fields();
    if (schema_.embedded) check_embedded();
    if (root_ && schema_.shared.published) check_root();
    const bool skip_all_of = !schema_.all_of.empty() &&
                             is_int_or_string_pattern(schema_.all_of[0].definition().get("anyOf"));
    // The API server looks for fields that are not declared from the root only.
    declared_ = root_ || !schema_.shared.published;
    check_branches(schema_.definition, &schema_.definition,
                   is_int_or_string_pattern(schema_.definition.get("anyOf")), skip_all_of, 0);
  }

 private:
  void fault(diag::Origin at, std::string message, std::string help = {}) {
    schema_.faults.push_back({at, std::move(message), std::move(help)});
  }
  /// A fault at a keyword of the node.
  void fault_at(std::string_view keyword, std::string_view why) {
    fault(origin_of(schema_.definition, keyword),
          "`" + std::string(keyword) + "` " + std::string(why));
  }

  void check_type() {
    const diag::Origin at = schema_.definition.origin();
    const Node& definition = schema_.definition;
    if (schema_.type == ValueType::any && !schema_.int_or_string && !schema_.preserve_unknown &&
        definition.find("type") == nullptr) {
      fault(at, "`type` is missing", "add `type`, or `x-kubernetes-preserve-unknown-fields: true`");
    }
    if (schema_.int_or_string && (schema_.preserve_unknown || schema_.embedded)) {
      fault_at("x-kubernetes-int-or-string", "is neither an object nor a value without a schema");
    }
    if (definition.find("x-kubernetes-map-type") != nullptr && schema_.type != ValueType::object) {
      fault_at("x-kubernetes-map-type", "needs the type object");
    }
    const Node* preserve = definition.find("x-kubernetes-preserve-unknown-fields");
    if (preserve != nullptr && preserve->is_boolean() && !preserve->as_boolean()) {
      fault_at("x-kubernetes-preserve-unknown-fields", "must be true or left out");
    }
  }

  void check_lists() {
    const Node& definition = schema_.definition;
    if (schema_.type == ValueType::array && !schema_.items) {
      fault(definition.origin(), "`items` is missing in a schema of type array");
    }
    if (schema_.unique_items && schema_.shared.published) {
      fault_at("uniqueItems", "must not be true in a CRD");
    }
    if (definition.find("x-kubernetes-list-type") != nullptr && schema_.type != ValueType::array) {
      fault_at("x-kubernetes-list-type", "needs the type array");
    }
    if (!schema_.list_map_keys.empty() && schema_.list_type != ListType::map) {
      fault_at("x-kubernetes-list-map-keys", "needs `x-kubernetes-list-type: map`");
    }
    if (schema_.list_type == ListType::atomic || !schema_.items) return;
    const Node& items = schema_.items->definition();
    if (is_true(items, "nullable")) fault_at("items", "must not be nullable in a set or map");
    if (schema_.list_type == ListType::map) {
      check_keys(items);
    } else if (items.get("type").as_string() == "array" &&
               items.find("x-kubernetes-list-type") != nullptr &&
               items.get("x-kubernetes-list-type").as_string() != "atomic") {
      fault_at("items", "of a set must be atomic when they are lists");
    } else if (items.get("type").as_string() == "object" &&
               items.get("x-kubernetes-map-type").as_string() != "atomic") {
      fault_at("items", "of a set need `x-kubernetes-map-type: atomic` when they are objects");
    }
  }

  void check_keys(const Node& items) {
    if (schema_.list_map_keys.empty()) {
      fault(schema_.definition.origin(),
            "`x-kubernetes-list-map-keys` is missing in a list of type map");
    }
    if (items.get("type").as_string() != "object") {
      return fault_at("items", "of a list of type map must be objects");
    }
    std::set<std::string_view> seen;
    for (const std::string_view key : schema_.list_map_keys) {
      const auto key_fault = [&](std::string_view why) {
        fault(origin_of(schema_.definition, "x-kubernetes-list-map-keys"),
              "the key `" + std::string(key) + "` of the list " + std::string(why));
      };
      if (!seen.insert(key).second) key_fault("is there twice");
      const Node* field = items.get("properties").find(key);
      if (field == nullptr) {
        key_fault("is no property of its items");
        continue;
      }
      const std::string_view type = field->get("type").as_string();
      if (type == "object" || type == "array") key_fault("must be a scalar");
      if (is_true(*field, "nullable")) key_fault("must not be nullable");
      const auto required = items.get("required").items();
      const bool always = std::any_of(required.begin(), required.end(),
                                      [&](const Node& name) { return name.as_string() == key; });
      if (!always && field->find("default") == nullptr) {
        key_fault("must be required or have a default");
      }
    }
  }

  void check_fields() {
    const Node* values = schema_.definition.find("additionalProperties");
    const bool any = values != nullptr && values->as_boolean();
    if (values != nullptr && !any && schema_.properties.size() != 0) {
      fault_at("additionalProperties", "and `properties` exclude each other");
    }
    if (schema_.type != ValueType::object || schema_.additional || schema_.additional_any ||
        schema_.preserve_unknown || schema_.shared.published) {
      return;
    }
    for (const std::string_view name : schema_.required) {
      if (schema_.property(name) == nullptr) {
        fault(schema_.definition.origin(),
              "required field `" + std::string(name) + "` is not among the properties");
      }
    }
  }

  void check_embedded() {
    if (schema_.type != ValueType::object) {
      fault_at("x-kubernetes-embedded-resource", "needs the type object");
    }
    if (schema_.definition.find("additionalProperties") != nullptr) {
      fault_at("additionalProperties", "must not stand in an embedded resource");
    }
    if (!schema_.preserve_unknown && schema_.properties.size() == 0) {
      fault_at("x-kubernetes-embedded-resource",
               "needs `properties` or `x-kubernetes-preserve-unknown-fields: true`");
    }
    check_type_meta();
  }

  void check_root() {
    if (schema_.type != ValueType::object) {
      fault(schema_.definition.origin(), "the type must be object at the root");
    }
    if (schema_.nullable) fault_at("nullable", "must not be true at the root");
    if (schema_.definition.find("additionalProperties") != nullptr) {
      fault_at("additionalProperties", "must not stand at the root");
    }
    if (schema_.default_value) fault_at("default", "must not stand at the root");
    check_type_meta();
    const Node metadata = schema_.properties.get("metadata");
    for (const Entry& entry : metadata.entries()) {
      const std::string_view key = entry.key.as_string();
      bool fine = key == "type" || key == "description";
      if (key == "properties") {
        fine = std::all_of(
            entry.value.entries().begin(), entry.value.entries().end(), [](const Entry& field) {
              return field.key.as_string() == "name" || field.key.as_string() == "generateName";
            });
      }
      if (!fine)
        fault(entry.key.origin(), "`metadata` may only restrict `name` and `generateName`");
    }
  }

  void check_type_meta() {
    constexpr std::array<std::array<std::string_view, 2>, 3> kTypes = {
        {{"apiVersion", "string"}, {"kind", "string"}, {"metadata", "object"}}};
    for (const auto& [name, type] : kTypes) {
      const Node* field = schema_.properties.find(name);
      if (field != nullptr && field->get("type").as_string() != type) {
        fault(field->origin(), "`" + std::string(name) + "` must be of type " + std::string(type));
      }
    }
  }

  /// Restrictions must say nothing but what a value has to meet, about fields that the structure
  /// around them (`spine`) declares.
  void check_branches(const Node& definition, const Node* spine, bool skip_any_of,
                      bool skip_all_of_any_of, int depth) {
    if (depth > kMostSchemaDepth) return;
    for (const std::string_view keyword : {"allOf", "anyOf", "oneOf"}) {
      if (keyword == "anyOf" && skip_any_of) continue;
      bool first = true;
      for (const Node& branch : definition.get(keyword).items()) {
        const bool skip = keyword == "allOf" && first && skip_all_of_any_of;
        check_restriction(branch, spine, skip, depth + 1);
        first = false;
      }
    }
    if (const Node* refused = definition.find("not")) {
      check_restriction(*refused, spine, false, depth + 1);
    }
  }

  void check_restriction(const Node& branch, const Node* spine, bool skip_any_of, int depth) {
    if (!branch.is_map() || depth > kMostSchemaDepth) return;
    if (spine == nullptr && declared_) {
      return fault(branch.origin(),
                   "a restriction speaks of a value that is not declared beside it");
    }
    constexpr std::array<std::string_view, 13> kForbidden = {"type",
                                                             "additionalProperties",
                                                             "default",
                                                             "title",
                                                             "description",
                                                             "nullable",
                                                             "x-kubernetes-preserve-unknown-fields",
                                                             "x-kubernetes-embedded-resource",
                                                             "x-kubernetes-int-or-string",
                                                             "x-kubernetes-list-map-keys",
                                                             "x-kubernetes-list-type",
                                                             "x-kubernetes-map-type",
                                                             "x-kubernetes-validations"};
    for (const std::string_view keyword : kForbidden) {
      const Node* value = branch.find(keyword);
      if (value == nullptr || (value->is_boolean() && !value->as_boolean())) continue;
      // Rules below allOf are well defined; schemas of ours may have them.
      if (keyword == "x-kubernetes-validations" && !schema_.shared.published) continue;
      fault(origin_of(branch, keyword),
            "`" + std::string(keyword) + "` must not stand inside of allOf, anyOf, oneOf or not");
    }
    for (const Entry& entry : branch.get("properties").entries()) {
      const std::string_view name = entry.key.as_string();
      if (name == "metadata" && schema_.shared.published) {
        fault(entry.key.origin(), "restrictions must not speak of `metadata`");
      }
      const Node* declared = spine == nullptr ? nullptr : spine->get("properties").find(name);
      if (declared == nullptr && declared_) {
        fault(entry.key.origin(), "a restriction speaks of `" + std::string(name) +
                                      "`, which is not declared beside it");
        continue;
      }
      check_restriction(entry.value, declared, false, depth + 1);
    }
    if (const Node* items = branch.find("items")) {
      check_restriction(*items, spine == nullptr ? nullptr : spine->find("items"), false,
                        depth + 1);
    }
    check_branches(branch, spine, skip_any_of, false, depth);
  }

  Schema& schema_;
  bool root_;
  bool declared_ = true;  // whether restrictions on what is not declared are faults
};

}  // namespace

void check_structure(Schema& schema, bool root) {
  StructureCheck(schema, root).run();
}

}  // namespace gpuctl::schema
