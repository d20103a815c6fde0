// x-kubernetes-validations: compiling rules and evaluating them on values.
#include <algorithm>
#include <array>
#include <deque>

#include "base/text.hpp"
#include "schema/field_path.hpp"
#include "schema/walk.hpp"

namespace gpuctl::schema {

using yaml::Node;

namespace {

constexpr std::string_view kOldSelf = "oldSelf";

Rule compile_rule(const Node& definition, const cel::Environment& environment) {
  Rule rule;
  rule.definition = definition;
  rule.text = definition.get("rule").as_string();
  rule.field_path = parse_field_path(definition.get("fieldPath").as_string())
                        .value_or(std::vector<std::string>());
  const bool names_old = rule.text.find(kOldSelf) != std::string_view::npos;
  std::vector<cel::Problem> problems;
  rule.program = cel::compile(rule.text, environment, problems);
  if (rule.program == nullptr) {
    rule.state = names_old ? Rule::State::transition : Rule::State::unsupported;
    rule.problem = problems.empty() ? "it cannot be compiled" : problems.front().message;
    return rule;
  }
  const std::vector<std::string> read = cel::variables_of(*rule.program);
  if (std::find(read.begin(), read.end(), kOldSelf) != read.end()) {
    rule.state = Rule::State::transition;
    rule.program.reset();
    return rule;
  }
  const cel::TypeKind result = cel::type_of(*rule.program).kind();
  if (result != cel::TypeKind::boolean && result != cel::TypeKind::dyn) {
    rule.problem = "it gives " + cel::type_of(*rule.program).text() + ", not a boolean";
    rule.program.reset();
    return rule;
  }
  rule.state = Rule::State::ready;
  if (const std::string_view text = definition.get("messageExpression").as_string();
      !text.empty()) {
    // Without it the fixed message is used.
    std::vector<cel::Problem> faults;
    rule.message = cel::compile(text, environment, faults);
    if (rule.message != nullptr && cel::type_of(*rule.message).kind() != cel::TypeKind::string &&
        !cel::type_of(*rule.message).is_dyn()) {
      rule.message = nullptr;
      rule.message_problem = "it gives no string";
    } else if (rule.message == nullptr) {
      rule.message_problem = faults.empty() ? "it cannot be compiled" : faults.front().message;
    }
  }
  return rule;
}

/// The places that `fieldPath` of a rule names, one below the other, as far as they can be known;
/// the last one is what the rule is about. Empty without a path.
std::deque<Place> follow(const Node& value, const std::vector<std::string>& names,
                         const Place& from) {
  std::deque<Place> steps;
  const Node* here = &value;
  for (const std::string& name : names) {
    const Place& above = steps.empty() ? from : steps.back();
    const yaml::Entry* entry = here == nullptr ? nullptr : here->find_entry(name);
    here = entry == nullptr ? nullptr : &entry->value;
    // A default that was filled in does not stand in the document.
    const bool written = entry != nullptr && entry->key.origin() != diag::kNoOrigin;
    steps.push_back(written ? above.field(*entry)
                            : Place{&above, Place::Step::field, name, 0, above.at});
  }
  return steps;
}

/// What the API server makes of a text that an expression gave: none of it when it is empty, too
/// long, or has line breaks (apiextensions-apiserver, schema/cel).
std::string_view usable_message(std::string_view text) {
  constexpr std::size_t kMostMessageBytes = 5 * 1024;
  const std::size_t first = text.find_first_not_of(" \t\r\n\v\f");
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(" \t\r\n\v\f") - first + 1);
  return text.size() > kMostMessageBytes || text.find('\n') != std::string_view::npos
             ? std::string_view()
             : text;
}

}  // namespace

const RuleSet& Schema::rule_set() const {
  rules_once_.call([this] {
    auto set = std::make_unique<RuleSet>();
    if (validations.size() != 0) {
      // Inside anyOf and its like the schema does not say what the value is.
      if (role == Role::structural) set->self = rule_type(*this, "self", set->needs_view);
      cel::Environment environment;
      environment.variables = {{"self", set->self}, {std::string(kOldSelf), set->self}};
      for (const Node& item : validations.items()) {
        set->rules.push_back(compile_rule(item, environment));
      }
    }
    rule_set_ = std::move(set);
  });
  return *rule_set_;
}

std::string schema_position(const Schema& schema, diag::Origin at) {
  const diag::Sources* sources = schema.shared.sources;
  return sources == nullptr ? std::string() : sources->place(at);
}

void Walk::not_checked(const Schema& schema, const void* what, diag::Origin at, const Place& place,
                       const std::string& problem) {
  if (!said_.insert(what).second) return;
  // Without subject and place in the document: the same for every document of the kind.
  const std::string kind = schema.shared.name.empty() ? "" : " of `" + schema.shared.name + "`";
  const std::string path = place.field_path();
  const std::string field = path.empty() ? "the root" : "`" + path + "`";
  const bool same_sources = schema.shared.sources == &sources_;
  diag::Diagnostic& finding =
      out_.note(kNotChecked, same_sources ? at : diag::kNoOrigin,
                "part of the schema" + kind + " at " + field + " is not checked");
  finding.note(one_line(problem, 300));
  if (!same_sources) {
    const std::string where = schema_position(schema, at);
    if (!where.empty()) finding.note("stands at " + where);
  }
}

/// True when the rule speaks of a field below `place` that may be absent here.
bool Walk::about_exempt(const Rule& rule, const Place& place) const {
  if (options_.exempt.empty()) return false;
  const std::string here = place.field_path();
  return std::any_of(
      options_.exempt.begin(), options_.exempt.end(), [&](const std::string& exempted) {
        const bool inside =
            here.empty() || (exempted.size() > here.size() && exempted.starts_with(here) &&
                             exempted[here.size()] == '.');
        if (!inside) return false;
        const std::size_t dot = exempted.rfind('.');
        const std::string name = exempted.substr(dot == std::string::npos ? 0 : dot + 1);
        return rule.text.find(name) != std::string_view::npos;
      });
}

bool Walk::check_rules(const Schema& schema, const Node& value, const Place& place) {
  const RuleSet& set = schema.rule_set();
  RuleCounts ignored;
  const bool counting = options_.counts != nullptr && sink_ == &out_;
  RuleCounts& counts = counting ? *options_.counts : ignored;
  const cel::Value self(set.needs_view ? rule_view(schema, value, arena_) : value);
  const std::array<cel::Value, 2> values = {self, cel::Value()};
  bool ok = true;
  for (const Rule& rule : set.rules) {
    if (out_of_steps_) return ok;
    if (rule.state == Rule::State::transition || about_exempt(rule, place)) {
      ++counts.skipped;
      continue;
    }
    if (rule.state == Rule::State::unsupported) {
      ++counts.unsupported;
      not_checked(schema, &rule, rule.definition.get("rule").origin(), place,
                  "rule `" + one_line(rule.text, 120) + "`: " + rule.problem);
      continue;
    }
    ++counts.evaluated;
    const cel::Outcome outcome = cel::evaluate(*rule.program, values, arena_);
    if (!outcome.ok()) {
      // As for the API server, one that takes too long is the last one; there may be thousands.
      out_of_steps_ = outcome.error->kind == cel::EvalError::Kind::budget;
      ok = rule_not_met(schema, rule, value, self, place, outcome.error->message);
    } else if (!outcome.value.is_node() || !outcome.value.node().as_boolean()) {
      ok = rule_not_met(schema, rule, value, self, place, {});
    }
  }
  return ok;
}

bool Walk::rule_not_met(const Schema& schema, const Rule& rule, const Node& value,
                        const cel::Value& self, const Place& place, const std::string& problem) {
  const std::deque<Place> below = follow(value, rule.field_path, place);
  const Place& target = below.empty() || !problem.empty() ? place : below.back();
  return refuse(kRuleNotMet, target, target.at, [&](diag::Diagnostic& finding) {
    std::string text;
    if (problem.empty() && rule.message != nullptr) {
      const std::array<cel::Value, 2> values = {self, cel::Value()};
      const cel::Outcome outcome = cel::evaluate(*rule.message, values, arena_);
      if (outcome.ok() && outcome.value.is_node()) {
        text = usable_message(outcome.value.node().as_string());
      }
    }
    if (text.empty()) text = rule.definition.get("message").as_string();
    text = one_line(text, 400);
    while (text.ends_with('.')) text.pop_back();
    finding.message = target.quoted() + " does not meet a rule of its schema";
    if (!text.empty()) finding.message += ": " + text;
    finding.note("rule: `" + one_line(rule.text, 200) + "`");
    if (!problem.empty()) finding.note("it could not be evaluated: " + one_line(problem, 200));
    const std::string_view reason = rule.definition.get("reason").as_string();
    if (!reason.empty()) finding.note("reason: " + std::string(reason));
    const diag::Origin written = rule.definition.get("rule").origin();
    if (schema.shared.sources == &sources_) {
      finding.also(written, "the rule");
    } else if (schema.shared.sources != nullptr && schema.shared.sources->is_built_in(written)) {
      // No file the user has.
    } else if (const std::string at = schema_position(schema, rule.definition.get("rule").origin());
               !at.empty()) {
      finding.note("the rule stands at " + at);
    }
  });
}

}  // namespace gpuctl::schema
