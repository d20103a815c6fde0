// Kubernetes structural schemas: compile once; validate, default and look up types.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/type.hpp"
#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::schema {

class Schema;  // compiled and immutable
using SchemaPtr = std::shared_ptr<const Schema>;

/// Compiles an OpenAPI v3 structural schema (the `openAPIV3Schema` of a CRD, or a merged
/// fragment). Faults in the schema are diagnostics GPU02xx; unknown `x-gpuctl-*` keys are kept.
/// The arena of `definition` and `sources` must outlive the schema. Never null. Patterns and rules
/// that cannot be compiled are faults, too.
SchemaPtr compile(const yaml::Node& definition, const diag::Sources& sources, diag::Sink& sink);
/// The same for a definition that compile() has accepted before: nothing of it is looked at until
/// it is needed.
SchemaPtr compile_checked(const yaml::Node& definition, const diag::Sources& sources);

/// What became of rules (x-kubernetes-validations).
struct RuleCounts {
  std::size_t evaluated = 0;    // ran (or, in a survey, can run)
  std::size_t skipped = 0;      // transition rules, and rules about exempt fields
  std::size_t unsupported = 0;  // our CEL cannot compile them; always reported as GPU0212
};

struct ValidateOptions {
  bool refuse_unknown = true;  // unknown fields are errors
  bool evaluate_rules = true;  // x-kubernetes-validations
  /// Dotted paths (no indexes) that may be absent although required, or are not checked at all:
  /// the secret fields of a committed document. Written as `paths_with` gives them: keys of maps
  /// with arbitrary keys are left out.
  std::vector<std::string> exempt = {};
  /// Prefix of every message path, e.g. "MachineSet/gpu-a: ".
  std::string subject = {};
  /// When not null, counts of rules are added to it.
  RuleCounts* counts = nullptr;
  /// When not null, the origins of values that do not conform are added to it.
  std::set<diag::Origin>* failed = nullptr;
};

/// Checks `document`; every finding is a diagnostic (GPU02xx) at the smallest span: an unknown key
/// at the key, a bad value at the value, an absent key at its parent. Transition rules are skipped.
void validate(const Schema& schema, const yaml::Node& document, yaml::Arena& arena,
              const diag::Sources& sources, diag::Sink& sink, const ValidateOptions& options = {});

/// The document with defaults filled in, exactly as the API server does (absent fields only; null
/// where not nullable and a default exists). For CRDs, nulls that nothing allows are removed first,
/// as the API server does; for other schemas they stay, for `validate` to report. Default values
/// keep the origin of the schema, except those of CRDs, whose sources are others.
yaml::Node apply_defaults(const Schema& schema, const yaml::Node& document, yaml::Arena& arena);

/// The document without nulls that the schema neither allows nor has a default for, as the API
/// server reads it; each is a warning at its place (GPU0209), with `subject` before its path.
yaml::Node drop_nulls(const Schema& schema, const yaml::Node& document, yaml::Arena& arena,
                      diag::Sink& sink, const std::string& subject = {});

/// The CEL type of values that conform to the schema.
cel::Type cel_type(const Schema& schema, const std::string& name);

/// The schema at a dotted path (`spec.gpuPools.mig` or `spec.gpuPools[].mig`; list items and
/// additionalProperties are entered silently), or nullptr.
const Schema* at(const Schema& schema, std::string_view path);

/// The definition node a compiled schema came from (for descriptions and extensions).
const yaml::Node& definition(const Schema& schema);

/// Dotted paths whose schema carries `key: true` (such as `x-gpuctl-secret`).
std::vector<std::string> paths_with(const Schema& schema, std::string_view key);

/// Is called with the path of a value in a document, its schema as written, and the value. Of
/// unknown fields the schema is the nearest one above.
using ValueVisitor = std::function<void(const std::vector<std::string>& path,
                                        const yaml::Node& definition, const yaml::Node& value)>;
/// Visits all values of a document, outer ones first.
void for_each_value(const Schema& schema, const yaml::Node& document, const ValueVisitor& visit);

/// Everything in a schema that cannot be checked, and how many rules can.
struct Survey {
  RuleCounts rules;
  std::vector<std::string> unsupported;  // one line each: path, rule or pattern, reason
  std::vector<std::string> faults;       // one line each: what is wrong in the schema itself
};
/// Compiles the whole schema with all patterns and rules.
Survey survey(const Schema& schema);

/// Deep-merges schema fragments as docs/knowledge.md says; a contradiction is GPU0210.
yaml::Node merge_fragments(std::span<const yaml::Node> fragments, yaml::Arena& arena,
                           diag::Sink& sink);

}  // namespace gpuctl::schema
