// Compiled nodes: what is made at first use, and looking up fields.
#include "schema/compiled.hpp"

#include <algorithm>

#include "cel/pattern.hpp"
#include "schema/keywords.hpp"
#include "schema/structural.hpp"

namespace gpuctl::schema {

using yaml::Entry;
using yaml::Node;

namespace {
/// `metadata: {type: object}` without any field of its own, as CRDs write it.
bool is_bare_object(const Node& definition) {
  return definition.get("type").as_string() == "object" &&
         definition.find("properties") == nullptr &&
         definition.find("additionalProperties") == nullptr &&
         definition.find("x-kubernetes-preserve-unknown-fields") == nullptr;
}
}  // namespace

Schema::Schema(const Node& from, const Shared& with, Role in_role, int depth, bool root)
    : definition(from), shared(with), role(in_role) {
  if (root) {
    const Node* metadata = from.get("properties").find("metadata");
    resource = shared.published || (metadata != nullptr && is_bare_object(*metadata));
  }
  read_keywords(*this, depth);
  if (definition.is_map() && !shared.checked) check_structure(*this, root);
}

const Schema& Slot::get() const {
  once_.call([this] {
    schema_ = std::make_unique<const Schema>(definition_, shared_, role_, depth_, false);
  });
  return *schema_;
}

const re2::RE2* Pattern::regex() const {
  once_.call([this] {
    auto compiled = cel::compiled_regex(text_);
    if (compiled->ok()) {
      regex_ = std::move(compiled);
    } else {
      error_ = compiled->error();
    }
  });
  return regex_.get();
}

const Schema* Schema::declared(std::string_view name) const {
  const Entry* entry = properties.find_entry(name);
  if (entry == nullptr) return nullptr;
  return &property_slots[static_cast<std::size_t>(entry - properties.entries().data())].get();
}

const Schema* Schema::property(std::string_view name) const {
  if (resource && name == "metadata") {
    const Entry* entry = properties.find_entry(name);
    if (entry == nullptr || is_bare_object(entry->value)) return &object_meta(embedded);
  }
  if (const Schema* own = declared(name)) return own;
  if (resource && (name == "apiVersion" || name == "kind")) return &plain_string();
  return nullptr;
}

bool Schema::requires_field(std::string_view name) const {
  return std::find(required.begin(), required.end(), name) != required.end();
}

const yaml::Node& definition(const Schema& schema) {
  return schema.definition;
}

SchemaPtr compile_published(const Node& definition, const diag::Sources& sources,
                            std::string kind) {
  auto root = std::make_shared<const Root>(
      definition, Shared{.sources = &sources, .published = true, .name = std::move(kind)});
  return {root, &root->schema};
}

}  // namespace gpuctl::schema
