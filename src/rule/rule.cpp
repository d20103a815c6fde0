#include "rule/rule.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.hpp"
#include "rule/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/path.hpp"

namespace gpuctl::rule {

namespace {

diag::Severity parse_severity(std::string_view text) {
  if (text == "error") return diag::Severity::error;
  return text == "warning" ? diag::Severity::warning : diag::Severity::note;
}

class RuleCompiler {
 public:
  RuleCompiler(std::shared_ptr<const cel::Environment> environment, bool on_documents,
               bool thorough, diag::Sources& sources, diag::Sink& sink)
      : base_(std::move(environment)),
        on_documents_(on_documents),
        thorough_(thorough),
        sources_(sources),
        sink_(sink) {}

  std::optional<Rule> compile(const yaml::Node& written) {
    const std::size_t errors_before = sink_.error_count();
    Rule rule;
    rule.written = written;
    rule.code = written.get("code").as_string();
    rule.severity = parse_severity(written.get("severity").as_string());
    rule.source = written.get("source").as_string();
    for (const yaml::Node& axis : written.get("between").items()) {
      rule.between.emplace_back(axis.as_string());
    }
    const Loops& loops = loops_of(written);
    rule.loops = loops.loops;
    rule.environment = loops.environment;
    if (const yaml::Node* when = written.find("when")) {
      rule.when = cel::LazyExpression(*when, rule.environment, sources_);
      if (thorough_) rule.when.check(sink_);
    }
    rule.check = cel::LazyExpression(written.get("check"), rule.environment, sources_);
    if (thorough_) {
      rule.check.check(sink_);
      cel::compile_bare(written.get("at"), *rule.environment, sources_, sink_);
      for (const char* key : {"message", "label", "expected", "help", "field"}) {
        if (const yaml::Node* text = written.find(key)) {
          cel::compile_text(*text, *rule.environment, sources_, sink_);
        }
      }
    }
    if (sink_.error_count() != errors_before) return std::nullopt;
    return rule;
  }

 private:
  struct Loops {
    std::vector<Rule::Loop> loops;
    std::shared_ptr<const cel::Environment> environment;
  };

  // Most rules loop over the same few lists: each `forEach` is compiled once.
  const Loops& loops_of(const yaml::Node& written) {
    const yaml::Node for_each = written.get("forEach");
    const auto [found, added] = loops_.try_emplace(yaml::emit_json(for_each));
    Loops& out = found->second;
    if (!added) return out;
    auto environment = std::make_shared<cel::Environment>(*base_);
    // Rules on documents use short names for many things: what is stored is told apart by the loop.
    if (on_documents_) environment->container = "loop" + std::to_string(loops_.size());
    for (const yaml::Entry& loop : for_each.entries()) {
      Rule::Loop compiled{std::string(loop.key.as_string()),
                          cel::compile_bare(loop.value, *environment, sources_, sink_)};
      cel::LazyType element{cel::Type()};
      if (compiled.list) {
        element = cel::LazyType(
            [program = compiled.list.program] { return cel::type_of(*program).element(); });
      }
      environment->variables.push_back({compiled.variable, std::move(element)});
      out.loops.push_back(std::move(compiled));
    }
    out.environment = std::move(environment);
    return out;
  }

  std::map<std::string, Loops> loops_;
  std::shared_ptr<const cel::Environment> base_;
  bool on_documents_;
  bool thorough_;
  diag::Sources& sources_;
  diag::Sink& sink_;
};

}  // namespace

std::shared_ptr<const Rules> compile(const catalog::Platform& platform,
                                     std::shared_ptr<const cel::Environment> environment,
                                     bool thorough, diag::Sources& sources, diag::Sink& sink) {
  auto with_date = std::make_shared<cel::Environment>(*environment);
  with_date->variables.push_back(
      {"today", cel::LazyType(cel::Type::simple(cel::TypeKind::string))});
  RuleCompiler compiler(std::move(with_date), false, thorough, sources, sink);
  auto rules = std::make_shared<Rules>();
  std::map<std::string, diag::Origin> seen;
  bool good = true;
  for (const yaml::Node& written : platform.rules) {
    std::optional<Rule> rule = compiler.compile(written);
    good = good && rule;
    if (!rule) continue;
    const auto [first, added] = seen.emplace(rule->code, written.get("code").origin());
    if (!added) {
      sink.error(kFaultyRule, written.get("code").origin(), "second rule " + rule->code)
          .also(first->second, "first rule");
      good = false;
    }
    rules->push_back(std::move(*rule));
  }
  return good ? rules : nullptr;
}

std::shared_ptr<const Rules> compile_document_rules(
    const std::vector<yaml::Node>& written, std::shared_ptr<const cel::Environment> environment,
    bool thorough, diag::Sources& sources, diag::Sink& sink) {
  RuleCompiler compiler(std::move(environment), true, thorough, sources, sink);
  auto rules = std::make_shared<Rules>();
  bool good = true;
  for (const yaml::Node& item : written) {
    std::optional<Rule> rule = compiler.compile(item);
    good = good && rule;
    if (rule) rules->push_back(std::move(*rule));
  }
  return good ? rules : nullptr;
}

bool holds(const Rule& rule, std::vector<cel::Value> values, yaml::Arena& arena) {
  values.emplace_back(yaml::Node::view("", diag::kNoOrigin));
  const auto is_true = [&](const cel::LazyExpression& expression, bool otherwise) {
    const cel::Outcome outcome = cel::evaluate(*expression.get().program, values, arena);
    if (!outcome.ok()) return otherwise;
    return outcome.value.is_node() && outcome.value.node().as_boolean();
  };
  const std::function<bool(std::size_t)> loop = [&](std::size_t depth) {
    if (depth == rule.loops.size()) {
      return (rule.when && !is_true(rule.when, false)) || is_true(rule.check, true);
    }
    const cel::Outcome list = cel::evaluate(*rule.loops[depth].list.program, values, arena);
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
