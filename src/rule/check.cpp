// Runs rules on a blueprint or a document, and says of each broken one what and where.
#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "derive/environment.hpp"
#include "rule/codes.hpp"
#include "rule/rule.hpp"
#include "yaml/path.hpp"

namespace gpuctl::rule {

namespace {

class RuleChecker {
 public:
  /// `blueprint` when the rules are on one; otherwise the first value is a document. `conflict` of
  /// its versions, or nullptr.
  RuleChecker(Subject subject, const yaml::Node* blueprint, const derive::Conflict* conflict,
              yaml::Context context)
      : subject_(std::move(subject)),
        values_(std::move(subject_.values)),
        blueprint_(blueprint),
        conflict_(conflict),
        context_(context) {}

  void run(const Rules& rules) {
    for (const auto& group : rules.groups) {
      if (group->is_open(values_, context_.arena)) {
        run(*group);
      } else if (subject_.observer != nullptr) {
        observe_closed(*group);
      }
    }
    if (!unable_) return;
    // What could not be asked is no mistake of whoever wrote the document; it must not stand alone.
    diag::Diagnostic incomplete;
    incomplete.severity = *unable_;
    incomplete.code = kIncomplete;
    incomplete.message = subject_.prefix + "a rule could not be evaluated on this document";
    incomplete.primary.at = subject_.fallback;
    incomplete.label("a fault of the rule, not of the document: all other rules were evaluated")
        .suggest("report it, with the lines that are shown");
    context_.sink.add(std::move(incomplete));
  }

 private:
  /// Where a finding points, and what it is about.
  struct Spot {
    diag::Origin at = diag::kNoOrigin;
    const yaml::Node* node = nullptr;  // that stands there; nullptr when it is only near
    const char* stands_in = nullptr;   // what to say when it is about a value that nobody wrote
  };

  void run(const Group& group) {
    const std::size_t outside = values_.size();
    group.variables().bind(values_);
    base_count_ = values_.size();
    for (const Rule& rule : group.rules()) {
      if (wanted(rule)) loop(rule, 0);
    }
    values_.resize(outside);
  }

  // What is said of it is dropped: the gate is closed.
  void observe_closed(const Group& group) {
    diag::Sink unsaid;
    std::swap(context_.sink, unsaid);
    const std::optional<diag::Severity> unable = unable_;
    behind_gate_ = true;
    run(group);
    behind_gate_ = false;
    unable_ = unable;
    std::swap(context_.sink, unsaid);
  }

  bool wanted(const Rule& rule) const {
    if (!subject_.cluster_known && rule.written.find("needs") != nullptr) return false;
    if (!subject_.rendered) return true;
    const yaml::Node* wanted = rule.written.find("rendered");
    const bool left_out = wanted != nullptr && wanted->is_boolean() && !wanted->as_boolean();
    return !left_out && rule.severity == diag::Severity::error;
  }

  void loop(const Rule& rule, std::size_t depth) {
    if (depth == rule.loops->size()) {
      const std::size_t outside = values_.size();
      rule.variables.bind(values_);
      apply(rule);
      values_.resize(outside);
      return;
    }
    const std::optional<cel::Value> list =
        depth == 0 ? outer_list(rule) : items((*rule.loops)[depth].list->get(), rule);
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
    const cel::LazyExpression* written = rule.loops->front().list.get();
    const auto known = outer_lists_.find(written);
    if (known != outer_lists_.end()) return known->second;
    std::optional<cel::Value> list = items(written->get(), rule);
    if (list) outer_lists_.emplace(written, *list);
    return list;
  }

  // A value that failed its schema may be handed on as an item, but not decide what the items are.
  std::optional<cel::Value> items(const cel::Expression& list, const Rule& rule) {
    std::vector<yaml::Origin> reads;
    cel::Outcome outcome = cel::evaluate(*list.program, values_, context_.arena, looking(reads));
    for (const yaml::Origin read : reads) {
      if (!failed(read)) continue;
      if (!outcome.ok() || !outcome.value.is_node() ||
          !holds_place(outcome.value.node(), read, false)) {
        return std::nullopt;
      }
    }
    if (outcome.ok()) return std::move(outcome.value);
    report(*outcome.error, list, rule);
    return std::nullopt;
  }

  // True when a value of `node`, or with `scalar` one without values of its own, was written there.
  static bool holds_place(const yaml::Node& node, yaml::Origin origin, bool scalar) {
    if (node.origin() == origin && (!scalar || node.is_scalar())) return true;
    const auto below = [&](const yaml::Node& value) { return holds_place(value, origin, scalar); };
    const auto items = node.items();
    const auto entries = node.entries();
    return std::any_of(items.begin(), items.end(), below) ||
           std::any_of(entries.begin(), entries.end(),
                       [&](const yaml::Entry& entry) { return below(entry.value); });
  }

  bool failed(yaml::Origin origin) const {
    return subject_.failed != nullptr && subject_.failed->contains(origin);
  }
  std::vector<yaml::Origin>* looking(std::vector<yaml::Origin>& reads) const {
    return subject_.failed == nullptr || subject_.failed->empty() ? nullptr : &reads;
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
    const std::optional<std::string> message = text("message", rule);
    if (!message) return;
    diag::Diagnostic broken;
    broken.severity = rule.severity;
    broken.code = rule.code;
    broken.message = subject_.prefix + *message;
    const Spot spot = place(rule);
    broken.primary.at = spot.at;
    broken.path = path_of(spot, rule);
    std::string label = text("label", rule).value_or("");
    if (spot.stands_in) label += std::string(label.empty() ? "" : " ") + spot.stands_in;
    broken.label(std::move(label));
    broken.expect(text("expected", rule).value_or(""));
    if (std::string help = text("help", rule).value_or(""); !help.empty()) {
      broken.suggest(std::move(help));
    }
    const std::string source(rule.written.get("source").as_string());
    if (!source.empty()) broken.note("source: " + source);
    if (!rule.between.empty()) explain_conflict(rule, broken);
    context_.sink.add(std::move(broken));
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
    if (subject_.observer == nullptr) return;
    subject_.observer->saw(rule, verdict);
    if (behind_gate_ && verdict == Verdict::broken) subject_.observer->saw_behind_gate(rule);
  }

  // Absent when the check says nothing: it cannot be evaluated, which is reported, or it looks at a
  // value that failed its schema.
  std::optional<bool> met(const Rule& rule) {
    const cel::Expression& check = rule.check.get();
    std::vector<yaml::Origin> reads;
    const cel::Outcome outcome =
        cel::evaluate(*check.program, values_, context_.arena, looking(reads));
    if (any_failed(reads)) return std::nullopt;
    if (outcome.ok()) return outcome.value.is_node() && outcome.value.node().as_boolean();
    if (blueprint_ == nullptr && outcome.error->kind == cel::EvalError::Kind::general) return false;
    report(*outcome.error, check, rule);
    return std::nullopt;
  }

  bool any_failed(const std::vector<yaml::Origin>& reads) const {
    return std::any_of(reads.begin(), reads.end(), [&](yaml::Origin read) { return failed(read); });
  }

  const yaml::Node& root() const {
    return blueprint_ != nullptr ? *blueprint_ : values_.front().node();
  }

  // The path of the value that is shown, with what `field` says below it: as far as it is there,
  // and one step more.
  std::string path_of(const Spot& spot, const Rule& rule) {
    if (spot.at == diag::kNoOrigin || spot.at == subject_.fallback) {
      return blueprint_ == nullptr || spot.at == diag::kNoOrigin ? std::string()
                                                                 : yaml::path_to(root(), spot.at);
    }
    std::string path = yaml::path_to(root(), spot.at);
    const std::string field = text("field", rule).value_or("");
    if (spot.node == nullptr || field.empty()) return path;
    const yaml::Node* node = spot.node;
    for (const std::string_view step : base::split(field, '.')) {
      path += path.empty() ? std::string(step) : "." + std::string(step);
      node = node->find(step);
      if (node == nullptr) break;
    }
    return path;
  }

  // Where the user wrote the value that `at` leads to. Of one that nobody wrote: the innermost loop
  // item that has a place, what the check compares it with, or what it would stand in.
  Spot place(const Rule& rule) {
    const cel::Expression at = cel::compile_bare(rule.written.get("at"), *rule.environment,
                                                 context_.sources, context_.sink);
    if (!at) return {subject_.fallback};
    const cel::Outcome outcome = cel::evaluate(*at.program, values_, context_.arena);
    const bool there = outcome.ok() && outcome.value.is_node();
    const diag::Origin own = there ? outcome.value.node().origin() : diag::kNoOrigin;
    if (known(own) && !lent(own)) {
      shown_ = outcome.value;
      return {own, &shown_.node()};
    }
    for (std::size_t i = values_.size(); i > base_count_; --i) {
      const yaml::Node* item = node_of(values_[i - 1]);
      if (item == nullptr || !known(item->origin()) || lent(item->origin())) continue;
      return {item->origin(), item};
    }
    if (subject_.lent == nullptr) return {subject_.fallback};
    if (const diag::Origin partner = compared_with(rule); known(partner)) {
      return {partner, nullptr, lent(own) ? "(the other value is a default)" : nullptr};
    }
    if (lent(own)) return {subject_.lent->at(own), nullptr, "(default)"};
    if (const diag::Origin above = nearest(cel::source(*at.program), rule); known(above)) {
      return {above};
    }
    return {subject_.fallback};
  }

  // Of an item, or of a variable that was read.
  static const yaml::Node* node_of(const cel::Value& value) {
    const cel::Deferred* deferred = cel::as_deferred(value);
    const cel::Value* known = deferred == nullptr ? &value : deferred->known();
    return known != nullptr && known->is_node() ? &known->node() : nullptr;
  }

  // The first scalar of the document that the check looks at, or else the condition.
  diag::Origin compared_with(const Rule& rule) {
    for (const cel::LazyExpression* expression : {&rule.check, &rule.when}) {
      if (!*expression) continue;
      std::vector<yaml::Origin> reads;
      cel::evaluate(*expression->get().program, values_, context_.arena, &reads);
      for (const yaml::Origin read : reads) {
        if (known(read) && !lent(read) && holds_place(root(), read, true)) return read;
      }
    }
    return diag::kNoOrigin;
  }

  // The nearest value with a place above an absent one, of an expression such as `document.a.b`.
  diag::Origin nearest(std::string_view path, const Rule& rule) {
    for (std::size_t dot = path.rfind('.'); dot != std::string_view::npos; dot = path.rfind('.')) {
      path = path.substr(0, dot);
      std::vector<cel::Problem> problems;
      const auto program = cel::compile(path, *rule.environment, problems);
      if (program == nullptr) return diag::kNoOrigin;
      const cel::Outcome outcome = cel::evaluate(*program, values_, context_.arena);
      if (!outcome.ok() || !outcome.value.is_node()) continue;
      diag::Origin origin = outcome.value.node().origin();
      if (lent(origin)) origin = subject_.lent->at(origin);
      if (origin == root().origin()) return diag::kNoOrigin;
      if (known(origin)) return origin;
    }
    return diag::kNoOrigin;
  }

  bool lent(diag::Origin origin) const {
    return subject_.lent != nullptr && subject_.lent->contains(origin);
  }

  // A default of a blueprint comes from a schema: no place in it. Those of documents have none.
  bool known(diag::Origin origin) const {
    return blueprint_ == nullptr ? origin != diag::kNoOrigin : context_.sources.owns(origin);
  }

  // A text of the rule; empty when it has none, absent when it cannot be made, which is reported.
  std::optional<std::string> text(std::string_view key, const Rule& rule) {
    const yaml::Node* written = rule.written.find(key);
    if (written == nullptr) return std::string();
    const std::optional<cel::Text> text =
        cel::compile_text(*written, *rule.environment, context_.sources, context_.sink);
    if (!text) return std::nullopt;
    const cel::TextOutcome outcome = cel::evaluate(*text, values_, context_.arena);
    if (outcome.error) {
      report(*outcome.error, *outcome.at, rule);
      return std::nullopt;
    }
    return std::string(outcome.value.node().as_string());
  }

  std::optional<cel::Value> evaluate(const cel::Expression& expression, const Rule& rule) {
    std::vector<yaml::Origin> reads;
    cel::Outcome outcome =
        cel::evaluate(*expression.program, values_, context_.arena, looking(reads));
    if (any_failed(reads)) return std::nullopt;
    if (outcome.ok()) return std::move(outcome.value);
    report(*outcome.error, expression, rule);
    return std::nullopt;
  }

  // The document is named, and where the rule stands: it is at fault.
  void report(const cel::EvalError& error, const cel::Expression& expression, const Rule& rule) {
    // An absent fact is no fault of the rule: it cannot be checked yet.
    if (error.path.starts_with("facts.") || subject_.faulty) return;
    diag::Sink own;
    const diag::Diagnostic fault = cel::report(error, expression, context_.sources, own);
    diag::Diagnostic unable;
    unable.severity = rule.severity;
    unable.code = fault.code;
    unable.message =
        subject_.prefix + "rule " + rule.code + " cannot be evaluated: " + fault.message;
    unable.primary.at = subject_.fallback;
    for (std::size_t i = values_.size(); i > base_count_; --i) {
      const yaml::Node* item = node_of(values_[i - 1]);
      if (item == nullptr || !known(item->origin())) continue;
      unable.primary.at = item->origin();
      unable.path = yaml::path_to(root(), unable.primary.at);
      break;
    }
    unable.also(fault.primary.at, "this part of the rule").note("in rule " + rule.code);
    context_.sink.add(std::move(unable));
    unable_ = std::min(unable_.value_or(rule.severity), rule.severity);
  }

  std::map<const cel::LazyExpression*, cel::Value> outer_lists_;
  Subject subject_;
  std::vector<cel::Value> values_;
  std::size_t base_count_ = 0;  // of values_: those outside of all loops
  const yaml::Node* blueprint_;
  const derive::Conflict* conflict_;
  yaml::Context context_;
  cel::Value shown_;  // keeps what a Spot points at
  bool behind_gate_ = false;
  std::optional<diag::Severity> unable_;  // the worst of rules that could not be evaluated
};

}  // namespace

void check(const Rules& rules, const blueprint::Blueprint& blueprint,
           const derive::Derived& derived, const yaml::Node& facts, std::string_view today,
           yaml::Context context, Observer* observer) {
  const derive::Inputs inputs{blueprint.metadata, blueprint.spec, derived.cluster,
                              blueprint.platform->catalog, facts};
  Subject subject;
  subject.values = inputs.values();
  rules.variables->bind(subject.values);
  subject.values.emplace_back(context.arena.string(today));
  subject.fallback = blueprint.metadata.get("name").origin();
  subject.observer = observer;
  RuleChecker checker(std::move(subject), &blueprint.document,
                      derived.conflict ? &*derived.conflict : nullptr, context);
  checker.run(rules);
}

void check(const Rules& rules, const Subject& subject, yaml::Context context) {
  RuleChecker checker(subject, nullptr, nullptr, context);
  checker.run(rules);
}

}  // namespace gpuctl::rule
