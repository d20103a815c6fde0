// Rules: what an expert would object to, as data. A rule is kept when its `check` is true.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/once.hpp"
#include "cel/definitions.hpp"
#include "derive/derive.hpp"
#include "derive/environment.hpp"
#include "yaml/context.hpp"

namespace gpuctl::rule {

struct Rule {
  std::string code;
  diag::Severity severity = diag::Severity::error;
  struct Loop {
    std::string variable;
    std::shared_ptr<const cel::LazyExpression> list;
  };
  std::shared_ptr<const std::vector<Loop>> loops;  // shared by rules with the same
  cel::Definitions variables;                      // of its own; they see the loops' variables
  cel::LazyExpression when;
  cel::LazyExpression check;
  // What a broken rule says is compiled only then: most rules are kept most of the time.
  std::shared_ptr<const cel::Environment> environment;
  std::vector<std::string> between;  // versions that it constrains
  yaml::Node written;
};

class RuleCompiler;

/// Rules of one file. Those behind a gate are read when it first opens.
class Group {
 public:
  Group(cel::LazyExpression gate, cel::Definitions variables, std::vector<Rule> rules)
      : gate_(std::move(gate)), variables_(std::move(variables)), rules_(std::move(rules)) {}
  /// Compiled late, in the environment that the variables give; `written` was checked before.
  Group(cel::LazyExpression gate, cel::Definitions variables,
        std::shared_ptr<const cel::Environment> environment, const yaml::Node& written,
        std::shared_ptr<RuleCompiler> compiler)
      : gate_(std::move(gate)),
        variables_(std::move(variables)),
        environment_(std::move(environment)),
        written_(written),
        compiler_(std::move(compiler)) {}
  bool has_gate() const { return static_cast<bool>(gate_); }
  /// True when the rules are about something that is there: there is no gate, it is true, or that
  /// cannot be said.
  bool is_open(std::span<const cel::Value> values, yaml::Arena& arena) const;
  /// Thread-safe.
  const std::vector<Rule>& rules() const;
  /// For all of them.
  const cel::Definitions& variables() const { return variables_; }

 private:
  cel::LazyExpression gate_;
  cel::Definitions variables_;
  std::shared_ptr<const cel::Environment> environment_;
  yaml::Node written_;
  std::shared_ptr<RuleCompiler> compiler_;
  mutable base::Once once_;
  mutable std::vector<Rule> rules_;
};

struct Rules {
  std::shared_ptr<const cel::Definitions> variables;  // of the platform
  std::vector<std::unique_ptr<const Group>> groups;
};

/// Compiles the rules of a platform; nullptr after diagnostics (GPU03xx, GPU0408). `scope` is
/// scope_of() the platform; rules see one variable more, `today`. With `thorough` all expressions
/// and texts are compiled at once, as the build does for what is built in; otherwise when a rule
/// first needs them.
std::shared_ptr<const Rules> compile(const catalog::Platform& platform, const derive::Scope& scope,
                                     bool thorough, diag::Sources& sources, diag::Sink& sink);

/// The same for rules on documents (key `on`, which the caller has dealt with): several may share a
/// code, and `field` may name an absent field below what `at` leads to.
std::shared_ptr<const Rules> compile_document_rules(
    const std::vector<catalog::RuleFile>& files,
    std::shared_ptr<const cel::Environment> environment, bool thorough, diag::Sources& sources,
    diag::Sink& sink);

/// What became of a rule for one item of its loops.
enum class Verdict : std::uint8_t {
  kept,
  broken,
  left_out,  // `when` is not true, or a loop has no items
};

/// Is told of every verdict, so that tests can measure which rules were ever kept and broken. What
/// could not be evaluated has none.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  virtual void saw(const Rule& rule, Verdict verdict) = 0;
  /// A rule was broken although the gate of its file is closed. (With an observer all rules run.)
  virtual void saw_behind_gate(const Rule& rule) = 0;
};

/// What rules are run on when it is no blueprint.
struct Subject {
  std::vector<cel::Value> values;  // of the environment's variables; the first is the document
  diag::Origin fallback = diag::kNoOrigin;
  std::string prefix = {};  // of every message
  /// Rendered by us: warnings and notes are not wanted, nor rules with `rendered: false`.
  bool rendered = false;
  bool cluster_known = false;  // otherwise rules with `needs: cluster` are left out
  bool faulty = false;  // what is wrong with it was reported: a rule that fails on it is left out
  /// Origins of values that failed their schema: no rule judges them. May be absent.
  const std::set<diag::Origin>* failed = nullptr;
  /// Values that nobody wrote, such as defaults, carry an origin that stands for nothing but the
  /// nearest value around them: from one to the other. May be absent.
  const std::map<diag::Origin, diag::Origin>* lent = nullptr;
  Observer* observer = nullptr;  // may be absent
};

/// Runs rules on a document. A `check` that fails for another reason than an absent key is not met:
/// a value that nothing can be worked out from is none to accept. A rule that cannot be evaluated
/// is GPU0303 on the document, and GPU0645 beside it says that the verdict is not complete.
void check(const Rules& rules, const Subject& subject, yaml::Context context);

/// Whether a rule of a group on blueprints is kept for all items of its loops. `values` are those
/// of base_environment(): a rule between versions knows no date, and sees an empty text. Nothing is
/// reported: a rule that cannot be evaluated, because it asks for what is not there, is kept.
bool holds(const Rules& rules, const Group& group, const Rule& rule, std::vector<cel::Value> values,
           yaml::Arena& arena);

/// Runs every rule; each broken one is a diagnostic with the rule's code. Rules that read an absent
/// fact are skipped. The first broken rule between versions also says which pins of the blueprint
/// are in conflict, and what would go together. `today` is the date that rules go by, such as
/// "2031-12-31"; nothing that is rendered sees it. `observer` may be absent.
void check(const Rules& rules, const blueprint::Blueprint& blueprint,
           const derive::Derived& derived, const yaml::Node& facts, std::string_view today,
           yaml::Context context, Observer* observer = nullptr);

}  // namespace gpuctl::rule
