// Expressions that others read by name, as `variables` of a Kubernetes ValidatingAdmissionPolicy.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cel/scalar.hpp"

namespace gpuctl::cel {

/// The value of a definition for one set of values: worked out when an expression first reads it.
/// It stands in the place of the variable's value, and belongs to one thread.
class Deferred final : public Opaque {
 public:
  /// `visible`: how many of the values that come with an evaluation it may read.
  Deferred(const LazyExpression& definition, std::size_t visible)
      : definition_(&definition), visible_(visible) {}
  std::string type_name() const override { return "variable"; }
  bool equals(const Opaque& other) const override { return this == &other; }

  /// The outcome, computed at most once for each kind of question. `values` are those of whoever
  /// reads the variable, and must be the same, as far as they are visible, in every call. `reads`
  /// as in evaluate(). Only with `explain` an error says more than its kind; it then names the
  /// definition that it is in.
  const Outcome& evaluate(std::span<const Value> values, yaml::Arena& arena,
                          std::vector<yaml::Origin>* reads, bool explain) const;
  void forget() const { known_ = false; }
  /// What an earlier evaluation gave, or nullptr.
  const Value* known() const { return known_ && outcome_.ok() ? &outcome_.value : nullptr; }

 private:
  const LazyExpression* definition_;
  std::size_t visible_;
  mutable bool known_ = false;
  mutable bool explained_ = false;
  mutable Outcome outcome_;
  mutable std::optional<std::vector<yaml::Origin>> reads_;
};

/// The deferred value that stands in the place of a variable, or nullptr.
const Deferred* as_deferred(const Value& value);

/// True for what can be the name of a variable: letters and digits, a letter first, and no word
/// that the language keeps for itself.
bool is_variable_name(std::string_view text);

/// Checks a name that expressions shall see besides those of `environment`. One that is none is
/// GPU0301, one that stands for something else already GPU0302.
void check_name(const yaml::Node& name, const Environment& environment, diag::Sink& sink);

/// A list of definitions, each of which sees those before it. Shareable among threads.
class Definitions {
 public:
  Definitions() = default;
  /// `written` is a map of names and expressions, or null. `environment` is the one that they are
  /// compiled in, and becomes that of whoever reads them. With `thorough` everything is compiled at
  /// once: GPU0301, GPU0302, also for a name that is none or stands for something else already.
  Definitions(const yaml::Node& written, std::shared_ptr<const Environment>& environment,
              bool thorough, diag::Sources& sources, diag::Sink& sink);

  /// Adds a value for each to those of the environment that they were compiled in. This must
  /// outlive the values.
  void bind(std::vector<Value>& values) const;
  /// Has the values that bind() added worked out again, because what they read has changed.
  void forget(std::span<const Value> values) const;

 private:
  std::vector<LazyExpression> expressions_;
};

}  // namespace gpuctl::cel
