#include "derive/derive.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cel/collections.hpp"
#include "cel/opaque.hpp"
#include "derive/codes.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::derive {

namespace {

// {NAME: {value, pools}}, as rows write it.
yaml::Node as_tree(const std::map<std::string, Used>& names, yaml::Arena& arena) {
  std::vector<yaml::Entry> entries;
  for (const auto& [name, used] : names) {
    std::vector<yaml::Node> pools;
    for (const std::string& pool : used.pools) pools.push_back(arena.string(pool));
    const std::vector<yaml::Entry> parts = {arena.entry("value", used.value),
                                            arena.entry("pools", arena.list(pools))};
    entries.push_back(arena.entry(name, arena.map(parts)));
  }
  return arena.map(entries);
}

class DerivationRun {
 public:
  DerivationRun(const Derivation& derivation, const blueprint::Blueprint& blueprint,
                const yaml::Node& facts, const Earlier& earlier, yaml::Context context,
                cel::Provenance* provenance)
      : variables_(*derivation.variables),
        chooser_(derivation.chooser.get()),
        derived_schema_(*blueprint.platform->derived),
        earlier_(earlier),
        context_(context),
        provenance_(provenance) {
    Inputs inputs;
    inputs.metadata = blueprint.metadata;
    inputs.spec = blueprint.spec;
    inputs.catalog = blueprint.platform->catalog;
    inputs.facts = facts;
    result_.cluster =
        context.arena.map(std::span<const yaml::Entry>(), blueprint.document.origin());
    if (provenance_ != nullptr) inputs = mark(inputs, *provenance_, context.arena);
    values_ = inputs.values();
    variables_.bind(values_);
    shared_count_ = values_.size();
  }

  void row(const Row& row) {
    values_.resize(shared_count_);
    values_[kCluster] = cel::Value(result_.cluster);
    variables_.forget(std::span(values_).subspan(kBaseVariables));
    if (row.choose) chosen_ = choose();
    const bool has_written = innermost_list(row.path).size() == 1;
    const yaml::Node blueprint =
        has_written ? values_[kSpec].node().get(row.path.front().key) : yaml::Node();
    const Placing placing{
        [&](const yaml::Node& item, std::size_t index) {
          values_.resize(shared_count_);
          values_.emplace_back(item);
          values_.emplace_back(yaml::Node::integer(static_cast<std::int64_t>(index)));
          if (!has_written) return;
          const std::span<const yaml::Node> written = blueprint.items();
          values_.emplace_back(index < written.size() ? written[index] : yaml::Node());
        },
        [&](const std::string& filed) { return value_at(row, filed); }};
    result_.cluster = set_at(result_.cluster, row.path, placing, context_.arena);
    if (provenance_ != nullptr) {
      result_.cluster = provenance_->mark("cluster", result_.cluster, context_.arena);
    }
  }

  Derived take() {
    const yaml::Node& cluster = result_.cluster;
    result_.cluster = context_.arena.placed_map(cluster.entries(), cluster.origin());
    return std::move(result_);
  }

 private:
  // The value at one place, with what the row's expressions see there.
  std::optional<yaml::Node> value_at(const Row& row, const std::string& filed) {
    if (!row.history) {
      row.variables.bind(values_);
      return value(row, filed);
    }
    const yaml::Node* recorded = earlier_.choices.find(filed);
    if (recorded != nullptr && !has_type(row, filed, *recorded)) return std::nullopt;
    values_.emplace_back(recorded != nullptr ? context_.arena.clone(*recorded)
                                             : context_.arena.list(std::span<const yaml::Node>()));
    row.variables.bind(values_);
    std::optional<yaml::Node> now = value(row, filed);
    if (now) {
      const bool kept = recorded != nullptr && yaml::equal(*recorded, *now);
      result_.choices.push_back({filed, *now, because(row), kept});
    }
    values_.pop_back();
    return now;
  }

  // Evaluates; a fault is reported and gives nothing. `reads` as in cel::evaluate().
  std::optional<cel::Value> run(const cel::Expression& expression, const Row& row,
                                std::vector<yaml::Origin>* reads = nullptr) {
    cel::Outcome outcome = cel::evaluate(*expression.program, values_, context_.arena, reads);
    if (outcome.ok()) return std::move(outcome.value);
    cel::report(*outcome.error, expression, context_.sources, context_.sink)
        .note("while deriving `" + row.text + "`");
    return std::nullopt;
  }

  bool is_true(const cel::Expression& expression, const Row& row) {
    const std::optional<cel::Value> value = run(expression, row);
    return value && value->is_node() && value->node().as_boolean();
  }

  std::optional<yaml::Node> value(const Row& row, const std::string& filed) {
    if (row.when && !is_true(row.when.get(), row)) return std::nullopt;
    std::optional<yaml::Node> chosen = kept_value(row, filed);
    const bool kept = chosen.has_value();
    cel::Provenance::Evaluation evaluation;
    if (kept) {
      evaluation.kept = chosen->origin();
    } else if (row.choose) {
      chosen = chosen_;
    } else if (!row.recall.empty()) {
      chosen = as_tree(earlier_names(row.recall), context_.arena);
    } else if (row.body) {
      chosen = composed(row);
      if (!chosen) return std::nullopt;
    } else {
      std::vector<yaml::Origin>* reads = provenance_ == nullptr ? nullptr : &evaluation.reads;
      std::optional<cel::Value> fresh =
          row.copy ? copied(row, reads) : run(row.value.get(), row, reads);
      if (fresh) fresh = cel::unwrapped(std::move(*fresh));
      if (!fresh || fresh->is_omit()) return std::nullopt;
      if (!fresh->is_node()) {
        context_.sink
            .error(kFaultyRow, row.written.get("value").origin(),
                   "`" + row.text + "` cannot hold a value of this type")
            .got(cel::foreign_type(*fresh));
        return std::nullopt;
      }
      chosen = fresh->node();
    }
    if (row.retain) chosen = retained(row, *chosen);
    if (row.keep) result_.choices.push_back({filed, *chosen, because(row), kept});
    if (row.show) result_.shown.push_back({filed, *chosen, because(row), false});
    if (provenance_ == nullptr) return chosen;
    evaluation.scalar = row.value ? row.value.written() : row.written.get("set");
    evaluation.because = because(row);
    return provenance_->mark_result(std::move(evaluation), *chosen, context_.arena);
  }

  bool is_retired(const std::string& name) const {
    return std::find(earlier_.retired.begin(), earlier_.retired.end(), name) !=
           earlier_.retired.end();
  }

  // The names of earlier commits that nobody has retired.
  std::map<std::string, Used> earlier_names(const std::string& path) const {
    const auto found = earlier_.names.find(path);
    if (found == earlier_.names.end()) return {};
    std::map<std::string, Used> names = found->second;
    for (const std::string& name : earlier_.retired) names.erase(name);
    return names;
  }

  // The names that a row hands out now, with those of earlier commits; notes them for the lock.
  yaml::Node retained(const Row& row, const yaml::Node& now) {
    std::map<std::string, Used> names = earlier_names(row.text);
    for (const yaml::Entry& entry : now.entries()) {
      const std::string name(entry.key.as_string());
      Used& used = names[name];
      used.value = entry.value.get("value");
      for (const yaml::Node& pool : entry.value.get("pools").items()) {
        const std::string_view user = pool.as_string();
        if (std::find(used.pools.begin(), used.pools.end(), user) == used.pools.end()) {
          used.pools.emplace_back(user);
        }
      }
      if (!is_retired(name)) continue;
      context_.sink.error(kStillUsed, diag::kNoOrigin, "`" + name + "` is still in use")
          .note("new machines get it, of " + base::counted(used.pools.size(), "pool") + ": " +
                base::join(used.pools, ", "))
          .suggest("change the blueprint first, so that no pool has it");
    }
    const yaml::Node all = as_tree(names, context_.arena);
    result_.names[row.text] = std::move(names);
    return all;
  }

  // What the row's body makes; nothing when it is left out, or after a fault.
  std::optional<yaml::Node> composed(const Row& row) {
    const compose::ResolveSecret no_secrets;
    compose::Instance instance(context_.arena, no_secrets, context_.sources, context_.sink,
                               provenance_);
    std::optional<yaml::Node> made = instance.make(row.body.get(), values_);
    if (!instance.fault()) return made;
    cel::report(instance.fault()->error, instance.fault()->at, context_.sources, context_.sink)
        .note("while deriving `" + row.text + "`");
    return std::nullopt;
  }

  // What stands at the path; nothing where a key is absent on the way.
  std::optional<cel::Value> copied(const Row& row, std::vector<yaml::Origin>* reads) {
    cel::Outcome outcome = cel::attempt(*row.value.get().program, values_, context_.arena, reads);
    if (outcome.ok()) return std::move(outcome.value);
    if (outcome.error->kind == cel::EvalError::Kind::no_such_key) return std::nullopt;
    return run(row.value.get(), row);
  }

  // Why the row gives what it gives; empty when it does not say.
  std::string because(const Row& row) {
    if (!row.because) return "";
    const cel::TextOutcome text = cel::evaluate(row.because.get(), values_, context_.arena);
    if (!text.error) return std::string(text.value.node().as_string());
    cel::report(*text.error, *text.at, context_.sources, context_.sink);
    return "";
  }

  yaml::Node choose() {
    if (chooser_ == nullptr) return context_.arena.map(std::span<const yaml::Entry>());
    const auto base = std::span(values_).first(kBaseVariables);
    Chosen made = chooser_->choose(base, earlier_, context_);
    for (Choice& choice : made.choices) result_.choices.push_back(std::move(choice));
    result_.conflict = std::move(made.conflict);
    return made.values;
  }

  std::optional<yaml::Node> kept_value(const Row& row, const std::string& filed) {
    if (!row.keep) return std::nullopt;
    const yaml::Node* old = row.record ? earlier_.choices.find(filed) : earlier_.kept(filed);
    if (old == nullptr || !has_type(row, filed, *old)) return std::nullopt;
    if (row.valid) {
      values_.emplace_back(*old);
      const bool valid = is_true(row.valid.get(), row);
      values_.pop_back();
      if (!valid) {
        context_.sink.error(kChoiceInvalid, old->origin(), invalid_choice(earlier_, filed))
            .got(yaml::emit_json(*old))
            .suggest("`gpuctl upgrade --only " + filed +
                     "` chooses again; or set the value in the blueprint");
        return std::nullopt;
      }
    }
    return context_.arena.clone(*old);
  }

  // Whether a value of the lock can stand where the row sets it; reports otherwise.
  bool has_type(const Row& row, const std::string& filed, const yaml::Node& old) {
    std::string path;
    for (const Step& step : row.path) path += (path.empty() ? "" : ".") + step.key;
    const schema::Schema* schema = schema::at(derived_schema_, path);
    if (schema == nullptr) return true;
    diag::Sink faults;
    schema::validate(*schema, old, context_.arena, context_.sources, faults,
                     {.evaluate_rules = false});
    if (!faults.has_errors()) return true;
    const diag::Diagnostic& first = faults.all().front();
    report_faulty_choice(filed, old, first.expected.empty() ? first.message : first.expected,
                         context_.sink);
    return false;
  }

  const cel::Definitions& variables_;
  const Chooser* chooser_;
  const schema::Schema& derived_schema_;
  std::vector<cel::Value> values_;
  std::size_t shared_count_ = 0;  // of values_: those that every row sees
  yaml::Node chosen_;
  const Earlier& earlier_;
  yaml::Context context_;
  cel::Provenance* provenance_;
  Derived result_;
};

}  // namespace

void report_faulty_choice(const std::string& path, const yaml::Node& value,
                          const std::string& expected, diag::Sink& sink) {
  sink.error(kFaultyChoice, value.origin(),
             "the lock has no usable value for the choice `" + path + "`")
      .expect(expected)
      .got(yaml::emit_json(value))
      .suggest("restore the lock from Git history; or `gpuctl upgrade --only " + path +
               "` chooses again");
}

bool is_within(const std::string& path, const std::string& prefix) {
  if (prefix.empty() || path == prefix) return true;
  return path.size() > prefix.size() && path.starts_with(prefix) &&
         (path[prefix.size()] == '.' || path[prefix.size()] == '[');
}

std::string invalid_choice(const Earlier& earlier, const std::string& path) {
  const bool adopted = earlier.adopted.find(path) != nullptr;
  return "the " + std::string(adopted ? "promoted" : "kept") + " choice `" + path + "` is " +
         (adopted ? "not valid here" : "no longer valid");
}

const yaml::Node* Earlier::kept(const std::string& path) const {
  if (const yaml::Node* value = adopted.find(path)) return value;
  const bool chosen_again = std::any_of(again.begin(), again.end(), [&](const std::string& prefix) {
    return is_within(path, prefix);
  });
  return chosen_again ? nullptr : choices.find(path);
}

std::optional<Derived> derive(const Derivation& derivation, const blueprint::Blueprint& blueprint,
                              const yaml::Node& facts, const Earlier& earlier,
                              yaml::Context context, cel::Provenance* provenance) {
  const std::size_t errors_before = context.sink.error_count();
  DerivationRun run(derivation, blueprint, facts, earlier, context, provenance);
  for (const Row& row : derivation.rows) {
    run.row(row);
    // Later rows build on this one: going on would only repeat the fault.
    if (context.sink.error_count() != errors_before) return std::nullopt;
  }
  Derived derived = run.take();
  schema::ValidateOptions options;
  options.subject = "derived tree: ";
  schema::validate(*blueprint.platform->derived, derived.cluster, context.arena, context.sources,
                   context.sink, options);
  if (context.sink.error_count() != errors_before) return std::nullopt;
  return derived;
}

}  // namespace gpuctl::derive
