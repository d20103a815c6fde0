#include "rule/rule.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "derive/environment.hpp"
#include "rule/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/path.hpp"

namespace gpuctl::rule {

namespace {

const std::vector<std::string> kKeys = {"code",     "severity", "forEach", "when",
                                        "check",    "at",       "message", "label",
                                        "expected", "help",     "source",  "between"};
const std::vector<std::string> kDocumentKeys = {"on", "field", "rendered", "needs"};

bool is_code(std::string_view text) {
  constexpr std::size_t kCodeBytes = 7;
  return text.size() == kCodeBytes && text.starts_with("GPU") &&
         std::all_of(text.begin() + 3, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<diag::Severity> parse_severity(std::string_view text) {
  if (text == "error") return diag::Severity::error;
  if (text == "warning") return diag::Severity::warning;
  if (text == "note") return diag::Severity::note;
  return std::nullopt;
}

class Compiler {
 public:
  Compiler(std::shared_ptr<const cel::Environment> environment, bool on_documents, bool thorough,
           diag::Sources& sources, diag::Sink& sink)
      : base_(std::move(environment)),
        keys_(kKeys),
        thorough_(thorough),
        sources_(sources),
        sink_(sink) {
    if (on_documents) keys_.insert(keys_.end(), kDocumentKeys.begin(), kDocumentKeys.end());
  }

  std::optional<Rule> compile(const yaml::Node& written) {
    const std::size_t errors_before = sink_.error_count();
    for (const yaml::Entry& entry : written.entries()) {
      const std::string key(entry.key.as_string());
      if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) {
        sink_.error(kFaultyRule, entry.key.origin(), "unknown key `" + key + "` in a rule")
            .did_you_mean(key, keys_);
      }
    }
    Rule rule;
    rule.written = written;
    rule.code = written.get("code").as_string();
    const yaml::Node severity_node = written.get("severity");
    const std::optional<diag::Severity> severity = parse_severity(severity_node.as_string());
    if (!severity && severity_node.is_string()) {
      sink_
          .error(kFaultyRule, severity_node.origin(),
                 "unknown severity `" + std::string(severity_node.as_string()) + "`")
          .expect("error, warning or note");
      return std::nullopt;
    }
    for (const char* key : {"message", "label", "expected", "help", "field"}) {
      const yaml::Node* text = written.find(key);
      if (text != nullptr && !text->is_string()) {
        sink_
            .error(kFaultyRule, text->origin(), "`" + std::string(key) + "` of a rule must be text")
            .got(std::string(yaml::kind_name(text->kind())));
      }
    }
    if (const yaml::Node* needs = written.find("needs");
        needs != nullptr && needs->as_string() != "cluster") {
      sink_.error(kFaultyRule, needs->origin(), "a rule can only need `cluster`");
    }
    if (!is_code(rule.code) || !severity || written.find("check") == nullptr ||
        written.find("at") == nullptr || !written.get("message").is_string()) {
      sink_.error(kFaultyRule, written.origin(), "incomplete rule")
          .expect("`code: GPUnnnn`, `severity: error | warning | note`, `check`, `at`, `message`");
      return std::nullopt;
    }
    rule.severity = *severity;
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
      for (const char* key : {"message", "label", "expected", "help"}) {
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
    if (keys_.size() != kKeys.size())
      environment->container = "loop" + std::to_string(loops_.size());
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
  std::vector<std::string> keys_;
  bool thorough_;
  diag::Sources& sources_;
  diag::Sink& sink_;
};

class Checker {
 public:
  /// `blueprint` when the rules are on one; otherwise the first value is a document. `conflict` of
  /// its versions, or nullptr.
  Checker(Subject subject, const yaml::Node* blueprint, const derive::Conflict* conflict,
          diag::Sources& sources, yaml::Arena& arena, diag::Sink& sink)
      : subject_(std::move(subject)),
        values_(std::move(subject_.values)),
        base_count_(values_.size()),
        blueprint_(blueprint),
        conflict_(conflict),
        sources_(sources),
        arena_(arena),
        sink_(sink) {}

  void run(const Rule& rule) {
    if (!subject_.cluster_known && rule.written.find("needs") != nullptr) return;
    if (subject_.rendered) {
      const yaml::Node* wanted = rule.written.find("rendered");
      const bool left_out = wanted != nullptr && wanted->is_boolean() && !wanted->as_boolean();
      if (left_out || rule.severity != diag::Severity::error) return;
    }
    loop(rule, 0);
  }

 private:
  void loop(const Rule& rule, std::size_t depth) {
    if (depth == rule.loops.size()) {
      apply(rule);
      return;
    }
    const std::optional<cel::Value> list =
        depth == 0 ? outer_list(rule) : evaluate(rule.loops[depth].list, rule);
    if (!list || !list->is_node()) return;
    if (list->node().size() == 0) saw(rule, Verdict::left_out);
    for (const yaml::Node& item : list->node().items()) {
      values_.emplace_back(item);
      loop(rule, depth + 1);
      values_.pop_back();
    }
  }

  // Most rules loop over the same few lists, and the outermost depends on nothing but the inputs.
  std::optional<cel::Value> outer_list(const Rule& rule) {
    const cel::Expression& written = rule.loops.front().list;
    const auto known = outer_lists_.find(written.program.get());
    if (known != outer_lists_.end()) return known->second;
    std::optional<cel::Value> list = evaluate(written, rule);
    if (list) outer_lists_.emplace(written.program.get(), *list);
    return list;
  }

  void apply(const Rule& rule) {
    if (rule.when) {
      const std::optional<cel::Value> when = evaluate(rule.when.get(), rule);
      if (!when) return;
      if (!when->is_node() || !when->node().as_boolean()) {
        saw(rule, Verdict::left_out);
        return;
      }
    }
    const std::optional<bool> kept = met(rule);
    if (kept) saw(rule, *kept ? Verdict::kept : Verdict::broken);
    if (kept.value_or(true)) return;
    diag::Diagnostic broken;
    broken.severity = rule.severity;
    broken.code = rule.code;
    broken.message = subject_.prefix + text("message", rule);
    broken.primary.at = place(rule);
    broken.path = path_of(broken.primary.at, rule);
    broken.label(text("label", rule));
    broken.expect(text("expected", rule));
    if (std::string help = text("help", rule); !help.empty()) broken.suggest(std::move(help));
    if (!rule.source.empty()) broken.note("source: " + rule.source);
    if (!rule.between.empty()) explain_conflict(rule, broken);
    sink_.add(std::move(broken));
  }

  // Once: the ways out are out of the whole conflict, of which each broken rule is a part.
  void explain_conflict(const Rule& rule, diag::Diagnostic& broken) {
    if (conflict_ == nullptr || broken.severity == diag::Severity::note) return;
    const std::vector<std::string>& codes = conflict_->codes;
    if (!codes.empty() && std::find(codes.begin(), codes.end(), rule.code) == codes.end()) return;
    const derive::Conflict& conflict = *std::exchange(conflict_, nullptr);
    std::vector<std::string> pins;
    for (const diag::Label& pin : conflict.pins) {
      pins.push_back(pin.text);
      if (known(pin.at) && pin.at != broken.primary.at) broken.also(pin.at, "pinned here");
    }
    if (pins.size() > 1) broken.note("do not go together: " + base::join(pins, ", "));
    for (const std::string& way : conflict.ways_out) broken.suggest(way);
  }

  void saw(const Rule& rule, Verdict verdict) {
    if (subject_.observer != nullptr) subject_.observer->saw(rule, verdict);
  }

  // Absent when the check cannot be evaluated, which is reported.
  std::optional<bool> met(const Rule& rule) {
    const cel::Expression& check = rule.check.get();
    const cel::Outcome outcome = cel::evaluate(*check.program, values_, arena_);
    if (outcome.ok()) return outcome.value.is_node() && outcome.value.node().as_boolean();
    if (blueprint_ == nullptr && outcome.error->kind == cel::EvalError::Kind::general) return false;
    report(*outcome.error, check, rule);
    return std::nullopt;
  }

  // The path of the value that is shown, with what `field` says below it.
  std::string path_of(diag::Origin at, const Rule& rule) {
    const yaml::Node& root = blueprint_ != nullptr ? *blueprint_ : values_.front().node();
    std::string path = at == diag::kNoOrigin ? std::string() : yaml::path_to(root, at);
    const std::string field = text("field", rule);
    return path.empty() || field.empty() ? path + field : path + "." + field;
  }

  // Where the blueprint says the value that `at` leads to; the innermost loop item that has a place
  // when the value itself has none.
  diag::Origin place(const Rule& rule) {
    const cel::Expression at =
        cel::compile_bare(rule.written.get("at"), *rule.environment, sources_, sink_);
    if (!at) return subject_.fallback;
    const cel::Outcome outcome = cel::evaluate(*at.program, values_, arena_);
    if (outcome.ok() && outcome.value.is_node() && known(outcome.value.node().origin())) {
      return outcome.value.node().origin();
    }
    for (std::size_t i = values_.size(); i > base_count_; --i) {
      const cel::Value& item = values_[i - 1];
      if (item.is_node() && known(item.node().origin())) return item.node().origin();
    }
    return subject_.fallback;
  }

  // A default of a blueprint comes from a schema: no place in it. Those of documents have none.
  bool known(diag::Origin origin) const {
    return blueprint_ == nullptr ? origin != diag::kNoOrigin : sources_.owns(origin);
  }

  // A text of the rule; empty when it has none.
  std::string text(std::string_view key, const Rule& rule) {
    const yaml::Node* written = rule.written.find(key);
    if (written == nullptr) return {};
    const std::optional<cel::Text> text =
        cel::compile_text(*written, *rule.environment, sources_, sink_);
    if (!text) return {};
    const cel::TextOutcome outcome = cel::evaluate(*text, values_, arena_);
    if (outcome.error) {
      report(*outcome.error, *outcome.at, rule);
      return {};
    }
    return std::string(outcome.value.node().as_string());
  }

  std::optional<cel::Value> evaluate(const cel::Expression& expression, const Rule& rule) {
    cel::Outcome outcome = cel::evaluate(*expression.program, values_, arena_);
    if (outcome.ok()) return std::move(outcome.value);
    report(*outcome.error, expression, rule);
    return std::nullopt;
  }

  void report(const cel::EvalError& error, const cel::Expression& expression, const Rule& rule) {
    // An absent fact is no fault of the rule: it cannot be checked yet.
    if (error.path.starts_with("facts.") || subject_.faulty) return;
    cel::report(error, expression, sources_, sink_).note("in rule " + rule.code);
  }

  std::map<const cel::Program*, cel::Value> outer_lists_;
  Subject subject_;
  std::vector<cel::Value> values_;
  std::size_t base_count_;
  const yaml::Node* blueprint_;
  const derive::Conflict* conflict_;
  diag::Sources& sources_;
  yaml::Arena& arena_;
  diag::Sink& sink_;
};

}  // namespace

std::shared_ptr<const Rules> compile(const catalog::Platform& platform,
                                     std::shared_ptr<const cel::Environment> environment,
                                     bool thorough, diag::Sources& sources, diag::Sink& sink) {
  Compiler compiler(std::move(environment), false, thorough, sources, sink);
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
  Compiler compiler(std::move(environment), true, thorough, sources, sink);
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

void check(const Rules& rules, const blueprint::Blueprint& blueprint,
           const derive::Derived& derived, const yaml::Node& facts, diag::Sources& sources,
           yaml::Arena& arena, diag::Sink& sink, Observer* observer) {
  const derive::Inputs inputs{blueprint.metadata, blueprint.spec, derived.cluster,
                              blueprint.platform->catalog, facts};
  Subject subject;
  subject.values = inputs.values();
  subject.fallback = blueprint.metadata.get("name").origin();
  subject.observer = observer;
  Checker checker(std::move(subject), &blueprint.document,
                  derived.conflict ? &*derived.conflict : nullptr, sources, arena, sink);
  for (const Rule& rule : rules) checker.run(rule);
}

void check(const Rules& rules, const Subject& subject, diag::Sources& sources, yaml::Arena& arena,
           diag::Sink& sink) {
  Checker checker(subject, nullptr, nullptr, sources, arena, sink);
  for (const Rule& rule : rules) checker.run(rule);
}

}  // namespace gpuctl::rule
