#include "rule/rule.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>

#include "base/text.hpp"
#include "cel/lazy.hpp"
#include "rule/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/path.hpp"

namespace gpuctl::rule {

namespace {

constexpr std::size_t kUsualLoops = 256;  // bytes of their text

diag::Severity parse_severity(std::string_view text) {
  if (text == "error") return diag::Severity::error;
  return text == "warning" ? diag::Severity::warning : diag::Severity::note;
}

}  // namespace

// Compiles rules one by one. Those behind a gate may come late, and from several threads.
class RuleCompiler {
 public:
  RuleCompiler(std::shared_ptr<const cel::Environment> environment, bool thorough,
               diag::Sources& sources, diag::Sink& sink)
      : base_(std::move(environment)), thorough_(thorough), sources_(sources), sink_(&sink) {}

  /// Nothing after diagnostics.
  std::optional<Rule> compile(const yaml::Node& written,
                              const std::shared_ptr<const cel::Environment>& environment) {
    const std::size_t errors_before = sink_->error_count();
    Rule rule;
    rule.written = written;
    yaml::Node for_each;
    yaml::Node variables;
    yaml::Node when;
    yaml::Node check;
    for (const auto& [key, value] : written.entries()) {
      const std::string_view name = key.as_string();
      if (name == "code") {
        rule.code = value.as_string();
      } else if (name == "severity") {
        rule.severity = parse_severity(value.as_string());
      } else if (name == "forEach") {
        for_each = value;
      } else if (name == "variables") {
        variables = value;
      } else if (name == "when") {
        when = value;
      } else if (name == "check") {
        check = value;
      } else if (name == "between") {
        for (const yaml::Node& axis : value.items()) rule.between.emplace_back(axis.as_string());
      }
    }
    if (for_each.size() == 0) {
      rule.loops = no_loops_;
      rule.environment = environment;
    } else {
      const Loops& loops = loops_of(for_each, environment);
      rule.loops = loops.loops;
      rule.environment = loops.environment;
    }
    rule.variables = define(variables, rule.environment);
    rule.when = lazy(when, rule.environment);
    rule.check = lazy(check, rule.environment);
    if (thorough_) {
      cel::compile_bare(written.get("at"), *rule.environment, sources_, *sink_);
      for (const char* key : {"message", "label", "expected", "help", "field"}) {
        if (const yaml::Node* text = written.find(key)) {
          cel::compile_text(*text, *rule.environment, sources_, *sink_);
        }
      }
    }
    if (sink_->error_count() != errors_before) return std::nullopt;
    return rule;
  }

  const std::shared_ptr<const cel::Environment>& base() const { return base_; }

  /// Expressions with names, and the environment of those who read them.
  cel::Definitions define(const yaml::Node& written,
                          std::shared_ptr<const cel::Environment>& environment) {
    return {written, environment, thorough_, sources_, *sink_};
  }

  /// The condition under which the rules of a file are looked at.
  cel::LazyExpression gate(const yaml::Node& written) {
    const std::size_t errors_before = sink_->error_count();
    cel::LazyExpression gate = lazy(written, base_);
    if (!thorough_ || !gate || sink_->error_count() != errors_before) return gate;
    const cel::Type type = cel::type_of(*gate.get().program);
    if (type.kind() != cel::TypeKind::boolean && type.kind() != cel::TypeKind::dyn) {
      sink_->error(kFaultyRule, written.origin(), "a gate must be true or false").got(type.text());
    }
    return gate;
  }

  /// From here on rules come late: all of them were checked before.
  void be_late() { sink_ = &none_; }
  std::vector<Rule> compile_late(const yaml::Node& written,
                                 const std::shared_ptr<const cel::Environment>& environment) {
    const std::lock_guard<std::mutex> guard(one_at_a_time_);
    std::vector<Rule> rules;
    for (const yaml::Node& item : written.items()) {
      if (std::optional<Rule> rule = compile(item, environment)) rules.push_back(std::move(*rule));
    }
    return rules;
  }

 private:
  struct Loops {
    std::shared_ptr<const std::vector<Rule::Loop>> loops;
    std::shared_ptr<const cel::Environment> environment;
  };

  cel::LazyExpression lazy(const yaml::Node& scalar,
                           const std::shared_ptr<const cel::Environment>& environment) {
    return cel::lazy<cel::Expression>(scalar, environment, thorough_, sources_, *sink_);
  }

  // Rules with the same loops share them, and with them what the loops go over.
  const Loops& loops_of(const yaml::Node& for_each,
                        const std::shared_ptr<const cel::Environment>& environment) {
    std::string key;
    key.reserve(kUsualLoops);
    // Loops that read the same are other loops where other names are known.
    key += std::to_string(reinterpret_cast<std::uintptr_t>(environment.get()));
    key += '\0';
    for (const yaml::Entry& loop : for_each.entries()) {
      key += loop.key.as_string();
      key += '\0';
      if (thorough_) {
        key += yaml::emit_json(loop.value);
      } else {
        key += loop.value.as_string();
      }
      key += '\0';
    }
    const auto [found, added] = loops_.try_emplace(std::move(key));
    Loops& out = found->second;
    if (!added) return out;
    std::vector<Rule::Loop> loops;
    out.environment = environment;
    for (const yaml::Entry& loop : for_each.entries()) {
      Rule::Loop compiled{std::string(loop.key.as_string()), list_of(loop.value, out.environment)};
      if (thorough_) cel::check_name(loop.key, *out.environment, *sink_);
      auto inner = std::make_shared<cel::Environment>(*out.environment);
      cel::LazyType element{cel::Type()};
      if (*compiled.list) {
        element = cel::LazyType(
            [list = compiled.list] { return cel::type_of(*list->get().program).element(); });
      }
      inner->variables.push_back({compiled.variable, std::move(element)}, loop.value.as_string());
      out.environment = std::move(inner);
      loops.push_back(std::move(compiled));
    }
    out.loops = std::make_shared<const std::vector<Rule::Loop>>(std::move(loops));
    return out;
  }

  // Nothing in it after diagnostics.
  std::shared_ptr<const cel::LazyExpression> list_of(
      const yaml::Node& list, const std::shared_ptr<const cel::Environment>& environment) {
    if (!thorough_ && environment == base_) {
      auto& known = outer_lists_[list.as_string()];
      if (known == nullptr) known = std::make_shared<cel::LazyExpression>(lazy(list, base_));
      return known;
    }
    const std::size_t errors_before = sink_->error_count();
    cel::LazyExpression out = lazy(list, environment);
    if (sink_->error_count() != errors_before) out = {};
    return std::make_shared<const cel::LazyExpression>(std::move(out));
  }

  std::shared_ptr<const std::vector<Rule::Loop>> no_loops_ =
      std::make_shared<const std::vector<Rule::Loop>>();
  std::map<std::string, Loops, std::less<>> loops_;
  std::map<std::string_view, std::shared_ptr<const cel::LazyExpression>> outer_lists_;
  std::shared_ptr<const cel::Environment> base_;
  bool thorough_;
  diag::Sources& sources_;
  diag::Sink* sink_;
  diag::Sink none_;
  std::mutex one_at_a_time_;
};

bool Group::is_open(std::span<const cel::Value> values, yaml::Arena& arena) const {
  if (!gate_) return true;
  const cel::Outcome open = cel::attempt(*gate_.get().program, values, arena);
  return !open.ok() || !open.value.is_node() || open.value.node().as_boolean();
}

const std::vector<Rule>& Group::rules() const {
  once_.call([this] {
    if (compiler_ != nullptr) rules_ = compiler_->compile_late(written_, environment_);
  });
  return rules_;
}

std::shared_ptr<const Rules> compile(const catalog::Platform& platform, const derive::Scope& scope,
                                     bool thorough, diag::Sources& sources, diag::Sink& sink) {
  auto groups = std::make_shared<Rules>();
  const std::size_t errors_before = sink.error_count();
  groups->variables = scope.variables;
  auto with_date = std::make_shared<cel::Environment>(*scope.environment);
  with_date->variables.push_back(
      {"today", cel::LazyType(cel::Type::simple(cel::TypeKind::string))});
  const auto compiler =
      std::make_shared<RuleCompiler>(std::move(with_date), thorough, sources, sink);
  std::map<std::string, diag::Origin> seen;
  for (const catalog::RuleFile& file : platform.rules) {
    cel::LazyExpression gate = compiler->gate(file.gate);
    std::shared_ptr<const cel::Environment> within = compiler->base();
    cel::Definitions variables = compiler->define(file.variables, within);
    if (!thorough && gate) {
      groups->groups.push_back(std::make_unique<const Group>(
          std::move(gate), std::move(variables), std::move(within), file.rules, compiler));
      continue;
    }
    std::vector<Rule> rules;
    for (const yaml::Node& written : file.rules.items()) {
      std::optional<Rule> rule = compiler->compile(written, within);
      if (!rule) continue;
      if (thorough) {
        const auto [first, added] = seen.emplace(rule->code, written.get("code").origin());
        if (!added) {
          sink.error(kFaultyRule, written.get("code").origin(), "second rule " + rule->code)
              .also(first->second, "first rule");
        }
        if (gate && !rule->between.empty()) {
          sink.error(kFaultyRule, written.get("between").origin(),
                     "a rule between versions cannot stand behind a gate");
        }
      }
      rules.push_back(std::move(*rule));
    }
    groups->groups.push_back(
        std::make_unique<const Group>(std::move(gate), std::move(variables), std::move(rules)));
  }
  compiler->be_late();
  return sink.error_count() == errors_before ? groups : nullptr;
}

std::shared_ptr<const Rules> compile_document_rules(
    const std::vector<catalog::RuleFile>& files,
    std::shared_ptr<const cel::Environment> environment, bool thorough, diag::Sources& sources,
    diag::Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  RuleCompiler compiler(std::move(environment), thorough, sources, sink);
  auto groups = std::make_shared<Rules>();
  for (const catalog::RuleFile& file : files) {
    std::shared_ptr<const cel::Environment> within = compiler.base();
    cel::Definitions variables = compiler.define(file.variables, within);
    std::vector<Rule> rules;
    for (const yaml::Node& item : file.rules.items()) {
      if (std::optional<Rule> rule = compiler.compile(item, within)) {
        rules.push_back(std::move(*rule));
      }
    }
    groups->groups.push_back(std::make_unique<const Group>(cel::LazyExpression(),
                                                           std::move(variables), std::move(rules)));
  }
  return sink.error_count() == errors_before ? groups : nullptr;
}

bool holds(const Rules& rules, const Group& group, const Rule& rule, std::vector<cel::Value> values,
           yaml::Arena& arena) {
  rules.variables->bind(values);
  values.emplace_back(yaml::Node::view("", diag::kNoOrigin));  // today
  group.variables().bind(values);
  const auto is_true = [&](const cel::LazyExpression& expression, bool otherwise) {
    const cel::Outcome outcome = cel::attempt(*expression.get().program, values, arena);
    if (!outcome.ok()) return otherwise;
    return outcome.value.is_node() && outcome.value.node().as_boolean();
  };
  const std::function<bool(std::size_t)> loop = [&](std::size_t depth) {
    if (depth == rule.loops->size()) {
      const std::size_t outside = values.size();
      rule.variables.bind(values);
      const bool kept = (rule.when && !is_true(rule.when, false)) || is_true(rule.check, true);
      values.resize(outside);
      return kept;
    }
    const cel::Expression& written = (*rule.loops)[depth].list->get();
    const cel::Outcome list = cel::attempt(*written.program, values, arena);
    if (!list.ok() || !list.value.is_node()) return true;
    for (const yaml::Node& item : list.value.node().items()) {
      values.emplace_back(item);
      const bool kept = loop(depth + 1);
      values.pop_back();
      if (!kept) return false;
    }
    return true;
  };
  return loop(0);
}

}  // namespace gpuctl::rule
