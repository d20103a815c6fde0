#include "schema/walk.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gpuctl::schema {

using yaml::Entry;
using yaml::Node;

namespace {

/// A scalar is pointed at itself; of a map or list the key, which is short.
diag::Origin anchor(const Entry& entry, diag::Origin otherwise) {
  const diag::Origin key = entry.key.origin();
  const diag::Origin value = entry.value.origin();
  const diag::Origin first = entry.value.is_scalar() ? value : key;
  const diag::Origin second = entry.value.is_scalar() ? key : value;
  if (first != diag::kNoOrigin) return first;
  return second != diag::kNoOrigin ? second : otherwise;
}

/// A map without a key of its own is pointed at by its first field: short, and the line people see.
diag::Origin first_field(const Node& node) {
  const auto entries = node.entries();
  const diag::Origin first = entries.empty() ? diag::kNoOrigin : entries.front().key.origin();
  return first != diag::kNoOrigin ? first : node.origin();
}

bool plain_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string list_of_names(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "`" : ", `") + name + "`";
  return out;
}

}  // namespace

Place Place::root(const Node& document) {
  Place place;
  place.at = first_field(document);
  place.value = document.origin();
  return place;
}
Place Place::field(const Entry& entry) const {
  return {this, Step::field, entry.key.as_string(), 0, anchor(entry, at), entry.value.origin()};
}
Place Place::key(const Entry& entry) const {
  return {this, Step::key, entry.key.as_string(), 0, anchor(entry, at), entry.value.origin()};
}
Place Place::item(const Node& item, std::size_t number) const {
  const diag::Origin own = first_field(item);
  return {this, Step::item, {}, number, own != diag::kNoOrigin ? own : at, item.origin()};
}

std::string Place::path() const {
  if (parent == nullptr) return {};
  const std::string above = parent->path();
  if (step == Step::item) return above + "[" + std::to_string(index) + "]";
  if (!plain_key(name)) return above + "[\"" + std::string(name) + "\"]";
  return above.empty() ? std::string(name) : above + "." + std::string(name);
}

std::string Place::field_path() const {
  if (parent == nullptr) return {};
  std::string above = parent->field_path();
  if (step != Step::field) return above;
  return above.empty() ? std::string(name) : above + "." + std::string(name);
}

std::string Place::quoted() const {
  const std::string text = path();
  return text.empty() ? "the document" : "`" + text + "`";
}

std::string Place::below(std::string_view field) const {
  const Place child{this, Step::field, field, 0, at};
  return child.path();
}

Walk::Walk(yaml::Arena& arena, const diag::Sources& sources, diag::Sink& sink,
           const ValidateOptions& options, std::vector<Finding>* found)
    : arena_(arena),
      sources_(sources),
      out_(sink),
      sink_(&sink),
      options_(options),
      found_(found) {}

bool Walk::exempt(const Place& place) const {
  if (options_.exempt.empty() || place.step != Place::Step::field) return false;
  const std::string path = place.field_path();
  return std::find(options_.exempt.begin(), options_.exempt.end(), path) != options_.exempt.end();
}

bool Walk::check(const Schema& schema, const Node& value, const Place& place) {
  if (exempt(place)) return true;
  if (!schema.faults.empty() && schema.shared.published) {
    for (const Fault& fault : schema.faults) {
      // A type missing in a published schema means no more than that anything fits.
      if (schema.type == ValueType::any && fault.at == schema.definition.origin()) continue;
      not_checked(schema, &fault, fault.at, place, fault.message);
    }
  }
  if (value.is_null()) {
    // Of a null, the API server looks at no more than this.
    return (schema.nullable || check_null(schema, value, place)) &&
           (!schema.allowed || check_enum(schema, value, place));
  }
  const std::size_t blocking = blocking_;
  if (!check_type(schema, value, place)) return false;
  bool ok = true;
  if (value.is_map()) {
    ok = check_object(schema, value, place);
  } else if (value.is_list()) {
    ok = check_list(schema, value, place);
  } else {
    ok = check_scalar(schema, value, place);
  }
  if (schema.allowed) ok = check_enum(schema, value, place) && ok;
  ok = check_combinations(schema, value, place) && ok;
  // A rule relies on types and on fields being there; without them its complaint would be noise.
  // The API server evaluates no rule at all then, we spare those around the mistake.
  if (blocking == blocking_ && options_.evaluate_rules && schema.validations.size() != 0) {
    ok = check_rules(schema, value, place) && ok;
  }
  return ok;
}

bool Walk::check_null(const Schema& schema, const Node& value, const Place& place) {
  // Anything fits where no type is asked for.
  if (schema.type == ValueType::any && !schema.int_or_string) return true;
  const diag::Origin at = value.origin() != diag::kNoOrigin ? value.origin() : place.at;
  return refuse(kNullValue, place, at, [&](diag::Diagnostic& finding) {
    finding.message = place.quoted() + " must not be null";
    finding.expect(wanted_type(schema)).got("null");
    finding.suggest("give it a value, or leave the field out");
  });
}

bool Walk::check_type(const Schema& schema, const Node& value, const Place& place) {
  bool fits = true;
  if (schema.int_or_string) {
    fits = is_whole(value) || value.is_string();
  } else {
    switch (schema.type) {
      case ValueType::any:
        break;
      case ValueType::object:
        fits = value.is_map();
        break;
      case ValueType::array:
        fits = value.is_list();
        break;
      case ValueType::string:
        fits = value.is_string();
        break;
      case ValueType::integer:
        fits = is_whole(value);
        break;
      case ValueType::number:
        fits = value.is_number();
        break;
      case ValueType::boolean:
        fits = value.is_boolean();
        break;
    }
  }
  if (fits) return true;
  if (schema.shared.published && schema.type == ValueType::string && value.is_list() &&
      schema.format != Format::none && schema.format != Format::int32) {
    // A gap of the API server (kube-openapi, validate/type.go). The controller will not decode it.
    if (sink_ != nullptr) {
      sink_->warning(kWrongType, place.at, options_.subject + "wrong type for " + place.quoted())
          .expect("string")
          .got("list")
          .note("the API server lets it through, and no controller can read it");
    }
    return true;
  }
  return refuse(kWrongType, place, place.at, [&](diag::Diagnostic& finding) {
    finding.message = "wrong type for " + place.quoted();
    finding.expect(wanted_type(schema)).got(show(schema, value));
    if (schema.secret) return;
    const std::string_view text = value.as_string();
    if (schema.type == ValueType::string && value.is_scalar()) {
      std::string_view written = sources_.text(value.origin());
      if (!written.empty()) finding.suggest("put it in quotes: `\"" + std::string(written) + "\"`");
    } else if (schema.type == ValueType::boolean && value.is_string()) {
      const std::string word = base::to_lower(text);
      if (word == "true" || word == "yes" || word == "on") finding.suggest("write `true`");
      if (word == "false" || word == "no" || word == "off") finding.suggest("write `false`");
    } else if ((schema.type == ValueType::integer || schema.type == ValueType::number) &&
               base::parse_integer(text)) {
      finding.suggest("write it without quotes: `" + std::string(text) + "`");
    } else if (schema.type == ValueType::array && value.is_scalar()) {
      finding.suggest("write a list, even with a single item");
    }
  });
}

bool Walk::check_object(const Schema& schema, const Node& value, const Place& place) {
  bool ok = true;
  std::size_t unknown = 0;
  for (const Entry& entry : value.entries()) ok = check_entry(schema, entry, place, unknown) && ok;
  if (schema.embedded) ok = check_type_meta(value, place) && ok;
  ok = check_required(schema, value, place) && ok;
  // The API server counts after it has dropped what it does not know.
  return check_count(schema.min_properties, schema.max_properties, value.size() - unknown, "field",
                     place) &&
         ok;
}

bool Walk::check_entry(const Schema& schema, const Entry& entry, const Place& place,
                       std::size_t& unknown) {
  if (!entry.key.is_string()) {
    const diag::Origin at = entry.key.origin() != diag::kNoOrigin ? entry.key.origin() : place.at;
    return refuse(kWrongType, place, at, [&](diag::Diagnostic& finding) {
      finding.message = "a key in " + place.quoted() + " is not a string";
      finding.expect("string").got(show(schema, entry.key));
      finding.suggest("put the key in quotes");
    });
  }
  const std::string_view name = entry.key.as_string();
  if (const Schema* child = schema.property(name)) {
    const Place there = place.field(entry);
    if (!schema.resource || name != "metadata") return check(*child, entry.value, there);
    const bool common = check_metadata(schema, entry.value, there);
    if (is_object_meta(*child) || !common) return common;
    metadata_ = child;
    return check(*child, entry.value, there);
  }
  if (schema.additional) return check(schema.additional->get(), entry.value, place.key(entry));
  if (schema.role == Role::restriction || !options_.refuse_unknown || &schema == metadata_) {
    return true;
  }
  // `additionalProperties: true` allows any key; below it, the API server knows no fields.
  if (schema.additional_any && schema.shared.published) {
    return check_untyped(entry.value, place.key(entry));
  }
  if (schema.additional_any || schema.preserve_unknown || preserved_.contains(&schema) ||
      schema.type == ValueType::any) {
    return true;
  }
  ++unknown;
  // The API server drops the field and goes on; a field of ours is most often one that was meant.
  if (!schema.shared.published) ++blocking_;
  return unknown_field(&schema, entry, place);
}

bool Walk::check_untyped(const Node& value, const Place& place) {
  bool ok = true;
  for (const Entry& entry : value.entries()) ok = unknown_field(nullptr, entry, place) && ok;
  std::size_t index = 0;
  for (const Node& item : value.items()) {
    ok = check_untyped(item, place.item(item, index++)) && ok;
  }
  return ok;
}

bool Walk::unknown_field(const Schema* schema, const Entry& entry, const Place& place) {
  const diag::Origin at = entry.key.origin() != diag::kNoOrigin ? entry.key.origin() : place.at;
  return refuse(kUnknownField, place.field(entry), at, [&](diag::Diagnostic& finding) {
    const std::string_view name = entry.key.as_string();
    finding.message = "unknown field `" + place.below(name) + "`";
    std::vector<std::string> names;
    if (schema != nullptr && schema->resource) names = {"apiVersion", "kind", "metadata"};
    const Node properties = schema == nullptr ? Node() : schema->properties;
    for (const Entry& property : properties.entries()) {
      const std::string_view known = property.key.as_string();
      if (property.value.find("x-gpuctl-refused") != nullptr) continue;  // of other platforms
      if (std::find(names.begin(), names.end(), known) == names.end()) names.emplace_back(known);
    }
    finding.label("not a field of " + place.quoted());
    if (names.empty()) {
      finding.expect("no fields");
    } else if (names.size() == 1) {
      finding.expect("`" + names.front() + "`");
    } else {
      finding.expect("one of " + list_of_names(names));
    }
    finding.did_you_mean(name, names);
  });
}

bool Walk::check_required(const Schema& schema, const Node& value, const Place& place) {
  bool ok = true;
  for (const std::string_view name : schema.required) {
    if (value.find(name) != nullptr) continue;
    const Place child{&place, Place::Step::field, name, 0, place.at};
    if (exempt(child)) continue;
    ok = refuse(kMissingField, child, place.at, [&](diag::Diagnostic& finding) {
      finding.message = "missing required field `" + child.path() + "`";
      for (const yaml::Entry& entry : value.entries()) {
        const std::string_view key = entry.key.as_string();
        if (schema.property(key) == nullptr && base::to_lower(key) == base::to_lower(name)) {
          finding.suggest("`" + std::string(key) + "` is there: letters count, write `" +
                          std::string(name) + "`");
        }
      }
      const Schema* wanted = schema.property(name);
      if (wanted == nullptr) return;
      if (wanted->allowed && wanted->allowed->size() <= 9) {
        std::vector<std::string> values;
        for (const Node& item : wanted->allowed->items()) values.push_back(show(*wanted, item));
        finding.expect("one of " + base::join(values, ", "));
      } else if (wanted->type != ValueType::any || wanted->int_or_string) {
        finding.expect(wanted_type(*wanted));
      }
      const std::string about = first_sentence(*wanted);
      if (!about.empty()) finding.note("`" + std::string(name) + "`: " + about);
    });
  }
  return ok;
}

bool Walk::check_list(const Schema& schema, const Node& value, const Place& place) {
  bool ok = check_count(schema.min_items, schema.max_items, value.size(), "item", place);
  if (schema.items) {
    const Schema& items = schema.items->get();
    // Unlike the fields of an object, the items of a list inherit this.
    if (schema.preserve_unknown || preserved_.contains(&schema)) preserved_.insert(&items);
    std::size_t index = 0;
    for (const Node& item : value.items()) {
      ok = check(items, item, place.item(item, index)) && ok;
      ++index;
    }
  }
  const bool distinct = schema.unique_items || schema.list_type != ListType::atomic;
  return (!distinct || check_unique(schema, value, place)) && ok;
}

Node drop_nulls(const Schema& schema, const Node& document, yaml::Arena& arena, diag::Sink& sink,
                const std::string& subject) {
  std::vector<RemovedNull> removed;
  Node out = prune_nulls(schema, document, arena, &removed);
  for (const RemovedNull& null : removed) {
    sink.warning(kNullValue, null.at, subject + "`" + null.path + "` is null")
        .label("counts as absent")
        .note("the API server drops a null that the schema does not allow")
        .suggest("leave the field out");
  }
  return out;
}

void validate(const Schema& schema, const Node& document, yaml::Arena& arena,
              const diag::Sources& sources, diag::Sink& sink, const ValidateOptions& options) {
  validate_listing(schema, document, arena, sources, sink, options, nullptr);
}

void validate_listing(const Schema& schema, const Node& document, yaml::Arena& arena,
                      const diag::Sources& sources, diag::Sink& sink,
                      const ValidateOptions& options, std::vector<Finding>* found) {
  Node subject = as_json(document, arena);
  if (schema.shared.published) {
    subject = drop_nulls(schema, subject, arena, sink, options.subject);
  }
  // The API server checks what it has filled in, and rules may read it.
  subject = fill_defaults(schema, subject, arena);
  Walk(arena, sources, sink, options, found).check(schema, subject, Place::root(document));
}

}  // namespace gpuctl::schema
