// The compiled form of a structural schema (internal to this library).
//
// A schema node is compiled when it is first used: published CRDs run to megabytes, a document
// touches a few hundred nodes of them. Patterns and rules are compiled later still, when a value
// meets them. All of it happens once and is safe for several threads.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/once.hpp"
#include "cel/program.hpp"
#include "schema/format.hpp"
#include "schema/schema.hpp"
#include "yaml/node.hpp"

namespace gpuctl::schema {

/// No schema is nested deeper than this.
inline constexpr int kMostSchemaDepth = 160;

enum class ValueType : std::uint8_t { any, object, array, string, integer, number, boolean };
enum class ListType : std::uint8_t { atomic, set, map };

/// Where a schema node stands: it declares fields, or it only restricts values (inside allOf,
/// anyOf, oneOf and not, where fields it does not name are none of its business).
enum class Role : std::uint8_t { structural, restriction };

/// What all nodes of one schema share.
struct Shared {
  const diag::Sources* sources = nullptr;
  bool published = false;  // from a CRD: judged as the API server does
  bool checked = false;    // compile() has accepted it before: nobody asks for its faults
  std::string name;        // the kind of a CRD, empty otherwise
};

/// A mistake in the schema itself.
struct Fault {
  diag::Origin at = diag::kNoOrigin;
  std::string message;
  std::string help;
};

class Schema;

/// A sub-schema that is compiled at its first use.
class Slot {
 public:
  Slot(const yaml::Node& definition, const Shared& shared, Role role, int depth)
      : definition_(definition), shared_(shared), role_(role), depth_(depth) {}
  const Schema& get() const;
  const yaml::Node& definition() const { return definition_; }

 private:
  yaml::Node definition_;
  const Shared& shared_;
  Role role_;
  int depth_;
  mutable base::Once once_;
  mutable std::unique_ptr<const Schema> schema_;
};

/// Sub-schemas in written order. Costs nothing while empty, as most are.
class Slots {
 public:
  class Iterator {
   public:
    explicit Iterator(const std::optional<Slot>* at) : at_(at) {}
    const Slot& operator*() const { return **at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const std::optional<Slot>* at_;
  };

  /// Makes room for `count`, before the first of them: they never move, so that one allocation
  /// holds all.
  void reserve(std::size_t count) {
    slots_ = std::make_unique<std::optional<Slot>[]>(count);
    size_ = 0;
  }
  void emplace_back(const yaml::Node& definition, const Shared& shared, Role role, int depth) {
    slots_[size_++].emplace(definition, shared, role, depth);
  }
  const Slot& operator[](std::size_t index) const { return *slots_[index]; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return Iterator(slots_.get()); }
  Iterator end() const { return Iterator(slots_.get() + size_); }

 private:
  std::unique_ptr<std::optional<Slot>[]> slots_;
  std::size_t size_ = 0;
};

/// A regular expression that is compiled at its first use.
class Pattern {
 public:
  explicit Pattern(std::string_view text) : text_(text) {}
  std::string_view text() const { return text_; }
  /// nullptr when RE2 cannot take it; `error()` then says why.
  const re2::RE2* regex() const;
  const std::string& error() const { return error_; }

 private:
  std::string_view text_;
  mutable base::Once once_;
  mutable std::shared_ptr<const re2::RE2> regex_;
  mutable std::string error_;
};

/// One item of x-kubernetes-validations, ready for evaluation or with the reason why not.
struct Rule {
  enum class State : std::uint8_t { ready, transition, unsupported };
  yaml::Node definition;
  std::string_view text;
  State state = State::unsupported;
  std::string problem;
  std::shared_ptr<const cel::Program> program;
  std::shared_ptr<const cel::Program> message;  // messageExpression; may be null
  std::string message_problem;                  // why it is null although there is one
  std::vector<std::string> field_path;
};

struct RuleSet {
  cel::Type self;
  bool needs_view = false;  // values must pass through rule_view() first
  std::vector<Rule> rules;
};

struct Bound {
  yaml::Node value;
  bool exclusive = false;
};

class Schema {
 public:
  Schema(const yaml::Node& definition, const Shared& shared, Role role, int depth, bool root);

  /// The schema of a field: declared, or one that every Kubernetes resource has.
  const Schema* property(std::string_view name) const;
  /// The schema of a field as declared under `properties`, nullptr when it is not.
  const Schema* declared(std::string_view name) const;
  const std::vector<Rule>& rules() const { return rule_set().rules; }
  const RuleSet& rule_set() const;
  bool requires_field(std::string_view name) const;

  yaml::Node definition;
  const Shared& shared;
  Role role;
  ValueType type = ValueType::any;
  bool nullable = false;
  bool preserve_unknown = false;
  bool resource = false;  // apiVersion, kind and metadata are fields of it
  bool embedded = false;  // a resource inside of another
  bool int_or_string = false;
  bool unique_items = false;
  bool secret = false;
  bool additional_any = false;  // additionalProperties: true
  ListType list_type = ListType::atomic;
  Format format = Format::none;

  yaml::Node properties;  // the map as written; slot i belongs to its entry i
  Slots property_slots;
  std::vector<std::size_t> defaulted;  // indexes of properties that carry a default
  std::unique_ptr<Slot> additional;
  std::unique_ptr<Slot> items;
  std::vector<std::string_view> required;
  std::vector<std::string_view> list_map_keys;
  std::optional<yaml::Node> default_value;  // absent when it is null, as for the API server

  std::optional<yaml::Node> allowed;  // enum
  std::unique_ptr<Pattern> pattern;
  std::optional<Bound> minimum;
  std::optional<Bound> maximum;
  std::optional<yaml::Node> multiple_of;
  std::optional<std::int64_t> min_length;
  std::optional<std::int64_t> max_length;
  std::optional<std::int64_t> min_items;
  std::optional<std::int64_t> max_items;
  std::optional<std::int64_t> min_properties;
  std::optional<std::int64_t> max_properties;

  Slots all_of;
  Slots any_of;
  Slots one_of;
  std::unique_ptr<Slot> not_;
  yaml::Node validations;  // x-kubernetes-validations as written

  std::vector<Fault> faults;

 private:
  mutable base::Once rules_once_;
  mutable std::unique_ptr<const RuleSet> rule_set_;
};

/// A root schema with what its nodes share.
struct Root {
  Root(const yaml::Node& definition, Shared with)
      : shared(std::move(with)), schema(definition, shared, Role::structural, 0, true) {}
  Shared shared;
  Schema schema;
};

/// The schema of a version of a CRD; compiled as far as it is used.
SchemaPtr compile_published(const yaml::Node& definition, const diag::Sources& sources,
                            std::string kind);

/// The schema of metadata that every resource has (ObjectMeta). An embedded one may have any name
/// that can stand in a path.
const Schema& object_meta(bool embedded);
/// True for one of the two.
bool is_object_meta(const Schema& schema);
/// The schema of `apiVersion` and `kind`.
const Schema& plain_string();

/// The document with defaults, with default values copied with or without their origins.
yaml::Node fill_defaults(const Schema& schema, const yaml::Node& document, yaml::Arena& arena);

/// What was found at which path of the document, for comparison with other implementations.
struct Finding {
  std::string code;
  std::string path;
};
/// validate() that also lists the places; `found` may be null.
void validate_listing(const Schema& schema, const yaml::Node& document, yaml::Arena& arena,
                      const diag::Sources& sources, diag::Sink& sink,
                      const ValidateOptions& options, std::vector<Finding>* found);

/// The document as it is after a way through JSON, where 1.0 is 1.
yaml::Node as_json(const yaml::Node& document, yaml::Arena& arena);

/// A null that stands for an absent field and was removed.
struct RemovedNull {
  std::string path;
  diag::Origin at = diag::kNoOrigin;
};
/// The document without nulls that are neither allowed nor replaced by a default.
yaml::Node prune_nulls(const Schema& schema, const yaml::Node& document, yaml::Arena& arena,
                       std::vector<RemovedNull>* removed);

/// The type of `self` in rules: field names escaped as Kubernetes does. `needs_view` becomes true
/// when values differ from it as written.
cel::Type rule_type(const Schema& schema, const std::string& name, bool& needs_view);
/// A value in the shape that rule_type() gives.
yaml::Node rule_view(const Schema& schema, const yaml::Node& value, yaml::Arena& arena);
/// The name of a field in CEL rules of a CRD; nothing when no expression can reach it.
std::optional<std::string> escape_field(std::string_view name);

/// Calls `visit(schema, path)` for every structural node, depth first in written order.
template <typename Visit>
void walk(const Schema& schema, const std::string& path, const Visit& visit) {
  visit(schema, path);
  std::size_t i = 0;
  for (const yaml::Entry& entry : schema.properties.entries()) {
    const std::string name(entry.key.as_string());
    walk(schema.property_slots[i++].get(), path.empty() ? name : path + "." + name, visit);
  }
  if (schema.items) walk(schema.items->get(), path, visit);
  if (schema.additional) walk(schema.additional->get(), path, visit);
}

}  // namespace gpuctl::schema
