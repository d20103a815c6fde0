// ObjectMeta and TypeMeta: what every Kubernetes resource has. CRDs say only `type: object` there.
// Fields: k8s.io/apimachinery, meta/v1 ObjectMeta; limits: apimachinery validation; of embedded
// resources: apiextensions-apiserver, schema/objectmeta.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"
#include "schema/walk.hpp"

namespace gpuctl::schema {

namespace {

using yaml::Arena;
using yaml::Entry;
using yaml::Node;

// DNS-1123 subdomain; the length limit is a keyword of its own.
constexpr std::string_view kSubdomain =
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
// A prefix of such a name, to which the server appends.
constexpr std::string_view kSubdomainPrefix =
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*-?$";
// What can stand in a path of a URL. Empty counts as absent.
constexpr std::string_view kPathSegment = "^([^/%.]|[^/%.][^/%]|[.][^/%.]|[^/%]{3,})?$";
// Empty counts as absent.
constexpr std::string_view kDnsLabel = "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$";
constexpr std::string_view kLabelValue = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";

/// Builds schema definitions as nodes.
class Definitions {
 public:
  Node typed(std::string_view type, std::vector<Entry> more = {}) {
    more.push_back(arena_.entry("type", Node::view(type)));
    // The API server reads a null anywhere in metadata as an absent field.
    more.push_back(arena_.entry("nullable", Node::boolean(true)));
    return arena_.map(more);
  }
  Node text(std::string_view pattern, std::int64_t most) {
    return typed("string", {arena_.entry("pattern", Node::view(pattern)),
                            arena_.entry("maxLength", Node::integer(most))});
  }
  Node map_of(Node value) { return typed("object", {arena_.entry("additionalProperties", value)}); }
  Node list_of(Node item) { return typed("array", {arena_.entry("items", item)}); }
  Node object(const std::vector<Entry>& properties, const std::vector<Node>& required = {}) {
    std::vector<Entry> more = {arena_.entry("properties", arena_.map(properties))};
    if (!required.empty()) more.push_back(arena_.entry("required", arena_.list(required)));
    return typed("object", std::move(more));
  }
  Entry field(std::string_view name, Node definition) { return arena_.entry(name, definition); }

 private:
  Arena arena_;
};

Node object_meta_definition(Definitions& d, bool embedded) {
  const Node text = d.typed("string");
  const Node flag = d.typed("boolean");
  const Node number = d.typed("integer");
  const Node owner = d.object(
      {d.field("apiVersion", text), d.field("kind", text), d.field("name", text),
       d.field("uid", text), d.field("controller", flag), d.field("blockOwnerDeletion", flag)},
      {Node::view("apiVersion"), Node::view("kind"), Node::view("name"), Node::view("uid")});
  const Node any =
      d.typed("object", {d.field("x-kubernetes-preserve-unknown-fields", Node::boolean(true))});
  const Node time = d.typed("string", {d.field("format", Node::view("date-time"))});
  const Node name = embedded ? d.typed("string", {d.field("pattern", Node::view(kPathSegment))})
                             : d.text(kSubdomain, 253);
  const Node prefix = embedded ? text : d.text(kSubdomainPrefix, 253);
  return d.object({d.field("name", name), d.field("generateName", prefix),
                   d.field("namespace", d.text(kDnsLabel, 63)),
                   d.field("labels", d.map_of(d.text(kLabelValue, 63))),
                   d.field("annotations", d.map_of(text)), d.field("finalizers", d.list_of(text)),
                   d.field("ownerReferences", d.list_of(owner)), d.field("creationTimestamp", time),
                   d.field("deletionTimestamp", time),
                   d.field("deletionGracePeriodSeconds", number), d.field("generation", number),
                   d.field("managedFields", d.list_of(any)), d.field("resourceVersion", text),
                   d.field("selfLink", text), d.field("uid", text)});
}

/// Schemas that live as long as the program: `properties` of an object, by name.
struct BuiltIn {
  explicit BuiltIn(std::vector<Entry> (*fields)(Definitions&))
      : root(definitions.object(fields(definitions)),
             Shared{.sources = nullptr, .published = true, .name = "metadata"}) {}
  const Schema& operator[](std::string_view name) const { return *root.schema.declared(name); }
  Definitions definitions;
  Root root;
};

const BuiltIn& built_in() {
  static const BuiltIn schemas([](Definitions& d) {
    return std::vector<Entry>{d.field("resource", object_meta_definition(d, false)),
                              d.field("embedded", object_meta_definition(d, true)),
                              d.field("text", d.typed("string"))};
  });
  return schemas;
}

/// A key of labels: `name` or `dns.prefix/name`.
bool is_qualified_name(std::string_view key) {
  static const re2::RE2 part{"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"};
  std::string_view name = key;
  if (const std::size_t slash = key.find('/'); slash != std::string_view::npos) {
    if (!base::is_dns1123_subdomain(key.substr(0, slash))) return false;
    name = key.substr(slash + 1);
  }
  return name.size() <= 63 && re2::RE2::FullMatch(re2::StringPiece(name.data(), name.size()), part);
}

}  // namespace

const Schema& object_meta(bool embedded) {
  return built_in()[embedded ? "embedded" : "resource"];
}

bool is_object_meta(const Schema& schema) {
  return &schema == &object_meta(false) || &schema == &object_meta(true);
}

const Schema& plain_string() {
  return built_in()["text"];
}

bool Walk::check_metadata(const Schema& schema, const Node& value, const Place& place) {
  bool ok = check(object_meta(schema.embedded), value, place);
  if (schema.role == Role::restriction) return ok;
  for (const std::string_view field : {"labels", "annotations"}) {
    const Entry* map = value.find_entry(field);
    if (map == nullptr) continue;
    const Place there = place.field(*map);
    for (const Entry& entry : map->value.entries()) {
      const std::string_view key = entry.key.as_string();
      // Keys of annotations may have capital letters before the slash.
      if (is_qualified_name(field == "labels" ? std::string(key) : base::to_lower(key))) continue;
      const diag::Origin at = entry.key.origin() != diag::kNoOrigin ? entry.key.origin() : place.at;
      ok = refuse(kOutOfBounds, there.key(entry), at, [&](diag::Diagnostic& finding) {
        finding.message =
            "`" + std::string(key) + "` cannot be a key of `" + place.below(field) + "`";
        finding.expect(
            "a name of at most 63 letters, digits, `-`, `_` and `.`, with an optional "
            "DNS name and `/` before it");
      });
    }
  }
  if (const Entry* finalizers = value.find_entry("finalizers")) {
    const Place there = place.field(*finalizers);
    std::size_t index = 0;
    for (const Node& item : finalizers->value.items()) {
      const Place here = there.item(item, index++);
      if (!item.is_string() || is_qualified_name(item.as_string())) continue;
      ok = refuse(kOutOfBounds, here, here.at, [&](diag::Diagnostic& finding) {
        finding.message = "value of " + here.quoted() + " is no name of a finalizer";
        finding.expect("a name such as `example.com/cleanup`");
        finding.got(show(plain_string(), item));
      });
    }
  }
  return ok;
}

bool Walk::check_type_meta(const Node& value, const Place& place) {
  bool ok = true;
  for (const std::string_view name : {"apiVersion", "kind"}) {
    const Entry* entry = value.find_entry(name);
    if (entry == nullptr) {
      const Place child{&place, Place::Step::field, name, 0, place.at};
      ok = refuse(kMissingField, child, place.at, [&](diag::Diagnostic& finding) {
        finding.message = "missing required field `" + child.path() + "`";
        finding.note(place.quoted() + " is a resource of its own");
      });
      continue;
    }
    const Place child = place.field(*entry);
    if (entry->value.is_null()) {
      ok = check_null(plain_string(), entry->value, child);
    } else if (entry->value.is_string()) {
      const std::string_view text = entry->value.as_string();
      const bool good = name == "kind"
                            ? base::is_dns1123_label(base::to_lower(text)) &&
                                  !(text.front() >= '0' && text.front() <= '9')
                            : !text.empty() && std::count(text.begin(), text.end(), '/') <= 1;
      if (good) continue;
      ok = refuse(kOutOfBounds, child, child.at, [&](diag::Diagnostic& finding) {
        finding.message = "value of " + child.quoted() + " names no " +
                          (name == "kind" ? "kind" : "version of an API");
        finding.expect(name == "kind" ? "a name such as `ConfigMap`" : "`v1`, or `group/v1`");
        finding.got(show(plain_string(), entry->value));
      });
    }
  }
  return ok;
}

}  // namespace gpuctl::schema
