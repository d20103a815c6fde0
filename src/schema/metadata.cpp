// ObjectMeta: the metadata that every Kubernetes resource has. CRDs say only `type: object` there.
// Fields: k8s.io/apimachinery, meta/v1 ObjectMeta; limits: apimachinery validation.
#include <array>
#include <string_view>

#include "base/text.hpp"
#include "schema/compiled.hpp"

namespace gpuctl::schema {

namespace {

using yaml::Arena;
using yaml::Entry;
using yaml::Node;

// DNS-1123 subdomain; the length limit is a keyword of its own.
constexpr std::string_view kSubdomain =
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
constexpr std::string_view kDnsLabel = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
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

Node object_meta_definition(Definitions& d) {
  const Node text = d.typed("string");
  const Node flag = d.typed("boolean");
  const Node number = d.typed("integer");
  const Node owner = d.object(
      {d.field("apiVersion", text), d.field("kind", text), d.field("name", text),
       d.field("uid", text), d.field("controller", flag), d.field("blockOwnerDeletion", flag)},
      {Node::view("apiVersion"), Node::view("kind"), Node::view("name"), Node::view("uid")});
  const Node any =
      d.typed("object", {d.field("x-kubernetes-preserve-unknown-fields", Node::boolean(true))});
  return d.object({d.field("name", d.text(kSubdomain, 253)), d.field("generateName", text),
                   d.field("namespace", d.text(kDnsLabel, 63)),
                   d.field("labels", d.map_of(d.text(kLabelValue, 63))),
                   d.field("annotations", d.map_of(text)), d.field("finalizers", d.list_of(text)),
                   d.field("ownerReferences", d.list_of(owner)), d.field("creationTimestamp", text),
                   d.field("deletionTimestamp", text),
                   d.field("deletionGracePeriodSeconds", number), d.field("generation", number),
                   d.field("managedFields", d.list_of(any)), d.field("resourceVersion", text),
                   d.field("selfLink", text), d.field("uid", text)});
}

/// A schema that lives as long as the program.
struct BuiltIn {
  explicit BuiltIn(Node (*make)(Definitions&))
      : root(make(definitions), Shared{.sources = nullptr, .published = true, .name = "metadata"}) {
  }
  Definitions definitions;
  Root root;
};

}  // namespace

const Schema& object_meta() {
  // `metadata` has a field `metadata` nowhere: the root must not be taken for a resource.
  struct Inner {
    BuiltIn built_in{
        [](Definitions& d) { return d.object({d.field("meta", object_meta_definition(d))}); }};
    const Schema& meta = *built_in.root.schema.declared("meta");
  };
  static const Inner inner;
  return inner.meta;
}

bool is_qualified_name(std::string_view key) {
  static const re2::RE2 prefix{re2::StringPiece(kSubdomain.data(), kSubdomain.size())};
  static const re2::RE2 part{"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"};
  std::string_view name = key;
  if (const std::size_t slash = key.find('/'); slash != std::string_view::npos) {
    const std::string before = base::to_lower(key.substr(0, slash));
    if (before.size() > 253 || !re2::RE2::FullMatch(before, prefix)) return false;
    name = key.substr(slash + 1);
  }
  return name.size() <= 63 && re2::RE2::FullMatch(re2::StringPiece(name.data(), name.size()), part);
}

const Schema& plain_string() {
  static const BuiltIn built_in(
      [](Definitions& d) { return d.object({d.field("text", d.typed("string"))}); });
  return *built_in.root.schema.declared("text");
}

}  // namespace gpuctl::schema
