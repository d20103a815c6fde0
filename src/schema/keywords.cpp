// From a definition to a compiled node: reads the keywords of one level.
#include "schema/keywords.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "schema/field_path.hpp"

namespace gpuctl::schema {

namespace {

using yaml::Entry;
using yaml::Node;

enum class Keyword : std::uint8_t {
  additional_properties,
  all_of,
  any_of,
  default_value,
  description,
  enumeration,
  exclusive_maximum,
  exclusive_minimum,
  format,
  items,
  max_items,
  max_length,
  max_properties,
  maximum,
  min_items,
  min_length,
  min_properties,
  minimum,
  multiple_of,
  not_,
  nullable,
  one_of,
  pattern,
  properties,
  required,
  type,
  unique_items,
  embedded_resource,
  int_or_string,
  list_map_keys,
  list_type,
  map_type,
  preserve_unknown,
  validations,
  note,  // title, example, externalDocs, id, $schema: no effect
};

struct KeywordRow {
  std::string_view name;
  Keyword keyword;
};

constexpr std::array kKeywords = {
    KeywordRow{"$schema", Keyword::note},
    KeywordRow{"additionalProperties", Keyword::additional_properties},
    KeywordRow{"allOf", Keyword::all_of},
    KeywordRow{"anyOf", Keyword::any_of},
    KeywordRow{"default", Keyword::default_value},
    KeywordRow{"description", Keyword::description},
    KeywordRow{"enum", Keyword::enumeration},
    KeywordRow{"example", Keyword::note},
    KeywordRow{"exclusiveMaximum", Keyword::exclusive_maximum},
    KeywordRow{"exclusiveMinimum", Keyword::exclusive_minimum},
    KeywordRow{"externalDocs", Keyword::note},
    KeywordRow{"format", Keyword::format},
    KeywordRow{"id", Keyword::note},
    KeywordRow{"items", Keyword::items},
    KeywordRow{"maxItems", Keyword::max_items},
    KeywordRow{"maxLength", Keyword::max_length},
    KeywordRow{"maxProperties", Keyword::max_properties},
    KeywordRow{"maximum", Keyword::maximum},
    KeywordRow{"minItems", Keyword::min_items},
    KeywordRow{"minLength", Keyword::min_length},
    KeywordRow{"minProperties", Keyword::min_properties},
    KeywordRow{"minimum", Keyword::minimum},
    KeywordRow{"multipleOf", Keyword::multiple_of},
    KeywordRow{"not", Keyword::not_},
    KeywordRow{"nullable", Keyword::nullable},
    KeywordRow{"oneOf", Keyword::one_of},
    KeywordRow{"pattern", Keyword::pattern},
    KeywordRow{"properties", Keyword::properties},
    KeywordRow{"required", Keyword::required},
    KeywordRow{"title", Keyword::note},
    KeywordRow{"type", Keyword::type},
    KeywordRow{"uniqueItems", Keyword::unique_items},
    KeywordRow{"x-kubernetes-embedded-resource", Keyword::embedded_resource},
    KeywordRow{"x-kubernetes-int-or-string", Keyword::int_or_string},
    KeywordRow{"x-kubernetes-list-map-keys", Keyword::list_map_keys},
    KeywordRow{"x-kubernetes-list-type", Keyword::list_type},
    KeywordRow{"x-kubernetes-map-type", Keyword::map_type},
    KeywordRow{"x-kubernetes-preserve-unknown-fields", Keyword::preserve_unknown},
    KeywordRow{"x-kubernetes-validations", Keyword::validations},
};
static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end(),
                             [](const KeywordRow& a, const KeywordRow& b) {
                               return a.name < b.name;
                             }));

// Rows in the order of their lengths, of which few share one.
constexpr auto kByLength = [] {
  auto rows = kKeywords;
  std::sort(rows.begin(), rows.end(),
            [](const KeywordRow& a, const KeywordRow& b) { return a.name.size() < b.name.size(); });
  return rows;
}();

// Where the rows of each length begin.
constexpr auto kFirstOfLength = [] {
  std::array<std::uint8_t, kByLength.back().name.size() + 2> first{};
  for (std::size_t length = 0; length < first.size(); ++length) {
    while (first[length] < kByLength.size() && kByLength[first[length]].name.size() < length) {
      ++first[length];
    }
  }
  return first;
}();

std::optional<Keyword> keyword_named(std::string_view name) {
  if (name.size() > kByLength.back().name.size()) return std::nullopt;
  for (std::size_t i = kFirstOfLength[name.size()]; i < kFirstOfLength[name.size() + 1]; ++i) {
    if (kByLength[i].name == name) return kByLength[i].keyword;
  }
  return std::nullopt;
}

std::string near_keyword(std::string_view name) {
  std::vector<std::string> names;
  for (const KeywordRow& row : kKeywords) names.emplace_back(row.name);
  const std::vector<std::string> near = base::nearest(name, names);
  return near.empty() ? std::string() : "did you mean `" + near.front() + "`?";
}

/// Keywords of OpenAPI that a structural schema must not have.
bool is_reference(std::string_view name) {
  return name == "$ref" || name == "definitions" || name == "patternProperties" ||
         name == "dependencies" || name == "additionalItems";
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}
bool has_line_break(std::string_view text) {
  return text.find_first_of("\r\n") != std::string_view::npos;
}

diag::Origin origin_of(const Entry& entry) {
  return entry.value.origin() != diag::kNoOrigin ? entry.value.origin() : entry.key.origin();
}

}  // namespace

namespace {

/// Reads the keywords of one node into a Schema.
class SchemaReader {
 public:
  SchemaReader(Schema& schema, int depth) : schema_(schema), depth_(depth) {}

  void read() {
    const Node& definition = schema_.definition;
    if (!definition.is_map()) {
      fault(definition.origin(),
            "a schema is a map, this is a " + std::string(yaml::kind_name(definition.kind())));
      return;
    }
    if (depth_ > kMostSchemaDepth) {
      fault(definition.origin(), "the schema is nested too deeply");
      return;
    }
    for (const Entry& entry : definition.entries()) {
      const std::string_view name = entry.key.as_string();
      if (const auto keyword = keyword_named(name)) {
        take(*keyword, entry);
      } else if (is_reference(name)) {
        fault(entry.key.origin(),
              "`" + std::string(name) + "` is not allowed in a structural schema",
              "write out what it stands for");
      } else if (!name.starts_with("x-")) {
        fault(entry.key.origin(), "unknown keyword `" + std::string(name) + "`",
              near_keyword(name));
      } else if (name == "x-gpuctl-secret") {
        schema_.secret = boolean(entry);
      }
    }
  }

 private:
  void fault(diag::Origin at, std::string message, std::string help = {}) {
    schema_.faults.push_back({at, std::move(message), std::move(help)});
  }
  void bad(const Entry& entry, std::string_view wanted) {
    fault(origin_of(entry),
          "`" + std::string(entry.key.as_string()) + "` must be " + std::string(wanted));
  }
  bool boolean(const Entry& entry) {
    if (!entry.value.is_boolean()) bad(entry, "true or false");
    return entry.value.as_boolean();
  }
  void count(const Entry& entry, std::optional<std::int64_t>& out) {
    if (!entry.value.is_integer() || entry.value.as_integer() < 0) {
      bad(entry, "a whole number of at least 0");
      return;
    }
    out = entry.value.as_integer();
  }
  bool number(const Entry& entry) {
    if (!entry.value.is_number()) bad(entry, "a number");
    return entry.value.is_number();
  }
  std::string_view text(const Entry& entry) {
    if (!entry.value.is_string()) bad(entry, "a string");
    return entry.value.as_string();
  }
  void names(const Entry& entry, std::vector<std::string_view>& out) {
    if (!entry.value.is_list()) {
      bad(entry, "a list of strings");
      return;
    }
    for (const Node& item : entry.value.items()) {
      if (!item.is_string()) {
        bad(entry, "a list of strings");
        return;
      }
      out.push_back(item.as_string());
    }
  }
  std::unique_ptr<Slot> slot(const Node& definition, Role role) const {
    return std::make_unique<Slot>(definition, schema_.shared, role, depth_ + 1);
  }
  void branches(const Entry& entry, Slots& out) {
    if (!entry.value.is_list() || entry.value.items().empty()) {
      bad(entry, "a list of schemas");
      return;
    }
    out.reserve(entry.value.size());
    for (const Node& item : entry.value.items()) {
      out.emplace_back(item, schema_.shared, Role::restriction, depth_ + 1);
    }
  }

  void take_type(const Entry& entry) {
    const std::string_view name = text(entry);
    if (name == "object") {
      schema_.type = ValueType::object;
    } else if (name == "array") {
      schema_.type = ValueType::array;
    } else if (name == "string") {
      schema_.type = ValueType::string;
    } else if (name == "integer") {
      schema_.type = ValueType::integer;
    } else if (name == "number") {
      schema_.type = ValueType::number;
    } else if (name == "boolean") {
      schema_.type = ValueType::boolean;
    } else if (entry.value.is_string()) {
      bad(entry, "object, array, string, integer, number or boolean");
    }
  }

  void take_properties(const Entry& entry) {
    if (!entry.value.is_map()) {
      bad(entry, "a map of schemas");
      return;
    }
    schema_.properties = entry.value;
    schema_.property_slots.reserve(entry.value.size());
    std::size_t index = 0;
    for (const Entry& property : entry.value.entries()) {
      schema_.property_slots.emplace_back(property.value, schema_.shared, schema_.role, depth_ + 1);
      const Node* value = property.value.find("default");
      if (value != nullptr && !value->is_null()) schema_.defaulted.push_back(index);
      ++index;
    }
  }

  void take_list_type(const Entry& entry) {
    const std::string_view name = text(entry);
    if (name == "set") {
      schema_.list_type = ListType::set;
    } else if (name == "map") {
      schema_.list_type = ListType::map;
    } else if (name != "atomic") {
      bad(entry, "atomic, set or map");
    }
  }

  void take_limit(const Entry& entry, std::optional<Bound>& bound) {
    if (!number(entry)) return;
    if (!bound) bound.emplace();
    bound->value = entry.value;
  }
  /// `exclusiveMinimum: true` of OpenAPI v3 sharpens `minimum`; a number (JSON schema) is a bound.
  void take_exclusive(const Entry& entry, std::optional<Bound>& bound) {
    if (entry.value.is_boolean()) {
      if (!bound) bound.emplace();
      bound->exclusive = entry.value.as_boolean();
    } else if (entry.value.is_number()) {
      bound = Bound{entry.value, true};
    } else {
      bad(entry, "true, false or a number");
    }
  }

  void take(Keyword keyword, const Entry& entry) {
    const Node& value = entry.value;
    switch (keyword) {
      case Keyword::note:
        return;
      case Keyword::description:
        text(entry);
        return;
      case Keyword::type:
        return take_type(entry);
      case Keyword::properties:
        return take_properties(entry);
      case Keyword::additional_properties:
        if (value.is_map()) {
          schema_.additional = slot(value, schema_.role);
        } else {
          schema_.additional_any = boolean(entry);
        }
        return;
      case Keyword::items:
        if (!value.is_map()) return bad(entry, "a schema");
        schema_.items = slot(value, schema_.role);
        return;
      case Keyword::required:
        return names(entry, schema_.required);
      case Keyword::default_value:
        if (!value.is_null()) schema_.default_value = value;
        return;
      case Keyword::nullable:
        schema_.nullable = boolean(entry);
        return;
      case Keyword::enumeration:
        // For the API server an empty list is none.
        if (value.is_list() && value.items().empty() && schema_.shared.published) return;
        if (!value.is_list() || value.items().empty()) return bad(entry, "a list of values");
        schema_.allowed = value;
        return;
      case Keyword::pattern:
        if (value.is_string()) schema_.pattern = std::make_unique<Pattern>(value.as_string());
        text(entry);
        return;
      case Keyword::format:
        schema_.format = format_named(text(entry));
        return;
      case Keyword::minimum:
        return take_limit(entry, schema_.minimum);
      case Keyword::maximum:
        return take_limit(entry, schema_.maximum);
      case Keyword::exclusive_minimum:
        return take_exclusive(entry, schema_.minimum);
      case Keyword::exclusive_maximum:
        return take_exclusive(entry, schema_.maximum);
      case Keyword::multiple_of:
        if (!number(entry)) return;
        if (value.as_real() <= 0) return bad(entry, "greater than 0");
        schema_.multiple_of = value;
        return;
      case Keyword::min_length:
        return count(entry, schema_.min_length);
      case Keyword::max_length:
        return count(entry, schema_.max_length);
      case Keyword::min_items:
        return count(entry, schema_.min_items);
      case Keyword::max_items:
        return count(entry, schema_.max_items);
      case Keyword::min_properties:
        return count(entry, schema_.min_properties);
      case Keyword::max_properties:
        return count(entry, schema_.max_properties);
      case Keyword::unique_items:
        schema_.unique_items = boolean(entry);
        return;
      case Keyword::all_of:
        return branches(entry, schema_.all_of);
      case Keyword::any_of:
        return branches(entry, schema_.any_of);
      case Keyword::one_of:
        return branches(entry, schema_.one_of);
      case Keyword::not_:
        schema_.not_ = slot(value, Role::restriction);
        return;
      case Keyword::embedded_resource:
        schema_.embedded = boolean(entry);
        schema_.resource = schema_.embedded || schema_.resource;
        return;
      case Keyword::int_or_string:
        schema_.int_or_string = boolean(entry);
        return;
      case Keyword::preserve_unknown:
        schema_.preserve_unknown = boolean(entry);
        return;
      case Keyword::list_type:
        return take_list_type(entry);
      case Keyword::list_map_keys:
        return names(entry, schema_.list_map_keys);
      case Keyword::map_type:
        if (value.as_string() != "atomic" && value.as_string() != "granular") {
          bad(entry, "atomic or granular");
        }
        return;
      case Keyword::validations:
        take_validations(entry);
        return;
    }
  }

  void take_validations(const Entry& entry) {
    if (!value_is_rules(entry)) return bad(entry, "a list of maps, each with a `rule`");
    schema_.validations = entry.value;
    for (const Node& rule : entry.value.items()) {
      for (const Entry& part : rule.entries()) take_rule_part(part);
      const std::string_view text = rule.get("rule").as_string();
      if (trimmed(text).empty()) fault(rule.get("rule").origin(), "the `rule` is empty");
      if (has_line_break(trimmed(text)) && trimmed(rule.get("message").as_string()).empty()) {
        fault(rule.get("rule").origin(), "a rule with line breaks needs a `message`");
      }
    }
  }
  void take_rule_part(const Entry& part) {
    static constexpr std::array<std::string_view, 4> kTexts = {"message", "messageExpression",
                                                               "fieldPath", "reason"};
    static constexpr std::array<std::string_view, 4> kReasons = {
        "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"};
    const std::string_view name = part.key.as_string();
    const std::string_view text = part.value.as_string();
    if (std::find(kTexts.begin(), kTexts.end(), name) != kTexts.end()) {
      if (!part.value.is_string() || (!text.empty() && trimmed(text).empty())) {
        return bad(part, "a text");
      }
    } else if (name == "optionalOldSelf") {
      boolean(part);
    } else if (name != "rule") {
      fault(part.key.origin(), "unknown keyword `" + std::string(name) + "` of a rule");
    }
    if (name == "message" && has_line_break(trimmed(text))) {
      bad(part, "one line");
    } else if (name == "reason" &&
               std::find(kReasons.begin(), kReasons.end(), text) == kReasons.end()) {
      bad(part,
          "FieldValueInvalid, FieldValueForbidden, FieldValueRequired or FieldValueDuplicate");
    } else if (name == "fieldPath" && !text.empty()) {
      const std::string problem = field_path_problem(schema_.definition, text);
      if (!problem.empty()) {
        fault(origin_of(part), "`fieldPath: " + std::string(text) + "` of a rule: " + problem);
      }
    }
  }
  static bool value_is_rules(const Entry& entry) {
    return entry.value.is_list() &&
           std::all_of(entry.value.items().begin(), entry.value.items().end(),
                       [](const Node& n) { return n.is_map() && n.get("rule").is_string(); });
  }

  Schema& schema_;
  int depth_;
};

}  // namespace

void read_keywords(Schema& schema, int depth) {
  SchemaReader(schema, depth).read();
}

}  // namespace gpuctl::schema
