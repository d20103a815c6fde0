#include "effects/assessment.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "effects/difference.hpp"
#include "effects/objects.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::effects {

namespace {

using yaml::Node;

// Rows on the summary of a cluster, which is applied nowhere, are rows on this kind.
constexpr std::string_view kClusterGroup = "gpuctl.dev";
constexpr std::string_view kClusterKind = "Cluster";

// Bytes of a value in a report: enough to recognise it.
constexpr std::size_t kMostValueBytes = 60;

constexpr std::string_view kAnnotations = "metadata.annotations";

std::string value_text(const Node& value) {
  if (value.is_null()) return {};
  std::string text = yaml::emit_json(value);
  if (text.size() <= kMostValueBytes) return text;
  return text.substr(0, base::character_limit(text, kMostValueBytes)) + "...";
}

bool is_object(const Manifest& manifest) {
  return manifest.body.is_map() && !manifest.body.get("kind").is_null();
}

// All pools of a cluster, by name, as its summary has them, each with the `objects` made for it.
Node pools_by_name(const Side& side, yaml::Arena& arena) {
  std::vector<yaml::Entry> pools;
  for (const std::string_view kind : {"gpuPools", "machinePools"}) {
    for (const Node& pool : side.summary.get(kind).items()) {
      const std::string_view name = pool.get("name").as_string();
      std::vector<Node> objects;
      for (const Manifest& manifest : side.manifests) {
        if (manifest.pool == name && is_object(manifest)) objects.push_back(manifest.body);
      }
      yaml::MapBuilder with_objects(pool);
      with_objects.set(arena, "objects", arena.list(objects));
      pools.push_back(arena.entry(name, with_objects.build(arena)));
    }
  }
  return arena.map(pools);
}

Node tree_of(const Side& side, yaml::Arena& arena) {
  std::vector<Node> objects;
  for (const Manifest& manifest : side.manifests) {
    if (is_object(manifest)) objects.push_back(manifest.body);
  }
  const std::vector<yaml::Entry> tree = {
      arena.entry("pools", pools_by_name(side, arena)),
      arena.entry("summary", side.summary),
      arena.entry("objects", arena.list(objects)),
  };
  return arena.map(tree);
}

class Assess {
 public:
  Assess(const Rows& rows, const Side& earlier, const Side& later, const Surroundings& surroundings,
         yaml::Arena& arena)
      : rows_(rows),
        arena_(arena),
        earlier_(tree_of(earlier, arena)),
        later_(tree_of(later, arena)),
        values_(surroundings.values) {
    fixed_ = values_.size();
  }

  ObjectChange object(const Pair& pair) {
    const Manifest& shown = pair.now != nullptr ? *pair.now : *pair.old;
    ObjectChange out;
    out.kind = pair.kind.kind;
    out.name = pair.name;
    out.layer = shown.layer;
    out.path = shown.path;
    pair_ = &pair;
    out.leaves = begins_to_leave();
    if (pair.old == nullptr) {
      out.operation = Operation::created;
    } else if (pair.now == nullptr) {
      out.operation = Operation::removed;
    } else if (pair.old->layer != pair.now->layer) {
      out.operation = Operation::moved;
    }
    if (out.leaves) {
      whole(Operation::removed, out);
    } else if (out.operation != Operation::changed) {
      whole(out.operation, out);
    }
    if (pair.old != nullptr && pair.now != nullptr) fields(out);
    std::stable_sort(out.findings.begin(), out.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.effect > b.effect; });
    return out;
  }

  // What the cluster itself is asked to be beyond its objects, such as its version; nothing where
  // no row sees an effect in it.
  std::optional<ObjectChange> cluster(const Manifest& old, const Manifest& now) {
    if (!old.body.is_map() || !now.body.is_map()) return std::nullopt;
    schema::KindRef kind;
    kind.group = kClusterGroup;
    kind.kind = kClusterKind;
    const Pair pair{&old, &now, kind, std::string(now.body.get("name").as_string())};
    ObjectChange out = object(pair);
    std::erase_if(out.findings, [](const Finding& finding) {
      return finding.effect == Effect::none || finding.effect == Effect::unknown;
    });
    if (out.findings.empty()) return std::nullopt;
    return out;
  }

  FileChange file(const Pair& pair) const {
    FileChange out{pair.name, Effect::unknown, "no row of knowledge says what reads this file"};
    if (const FileRow* row = rows_.file(pair.name)) {
      out.effect = row->effect;
      out.reason = row->reason;
    }
    return out;
  }

 private:
  bool begins_to_leave() const {
    return pair_->old != nullptr && pair_->now != nullptr && pair_->now->leaving &&
           !pair_->old->leaving;
  }

  bool goes_at_last() const {
    return pair_->old != nullptr && pair_->now == nullptr && pair_->old->leaving;
  }

  void whole(Operation operation, ObjectChange& out) {
    bind(Field{});
    for_row(
        [&](const Row& row) {
          return row.fields.empty() && std::find(row.operations.begin(), row.operations.end(),
                                                 operation) != row.operations.end();
        },
        [&](const Row* row) {
          Finding one = finding(row);
          const Sequence* sequence = rows_.sequence(one.sequence);
          if (out.leaves) {
            one.held = true;
            if (sequence != nullptr) one.step = sequence->first_commit();
          } else if (goes_at_last()) {
            one.held = false;
            if (sequence != nullptr) one.step = sequence->last_commit();
          }
          out.findings.push_back(std::move(one));
        });
  }

  void fields(ObjectChange& out) {
    const std::vector<Field> all = differences(pair_->old->body, pair_->now->body, arena_);
    // Fields that came or went together, for one reason, are shown as one.
    std::map<std::pair<const Row*, std::string>, std::size_t> by_reason;
    std::set<std::pair<std::size_t, std::string>> shown;
    for (const Field& field : all) {
      // That the annotations go which protect it is said of the object.
      if (out.leaves && written(field.steps).starts_with(kAnnotations)) continue;
      const Operation operation = field.from.is_null() ? Operation::added
                                  : field.to.is_null() ? Operation::taken
                                                       : Operation::changed;
      bind(field);
      for_row(
          [&](const Row& row) { return is_on(row, operation, field); },
          [&](const Row* row) {
            Finding one = finding(row);
            const auto [at, fresh] = by_reason.try_emplace({row, one.reason}, out.findings.size());
            if (fresh) out.findings.push_back(std::move(one));
            FieldChange change = change_of(field);
            if (shown.insert({at->second, change.path}).second) {
              out.findings[at->second].fields.push_back(std::move(change));
            }
          });
    }
  }

  static bool is_on(const Row& row, Operation operation, const Field& field) {
    if (!row.operations.empty() && std::find(row.operations.begin(), row.operations.end(),
                                             operation) == row.operations.end()) {
      return false;
    }
    return std::any_of(row.fields.begin(), row.fields.end(),
                       [&](const Pattern& pattern) { return pattern.covers(field.steps); });
  }

  // The part that came or went as a whole stands for all that is in it.
  FieldChange change_of(const Field& field) const {
    if (field.whole == field.steps.size()) {
      return {written(field.steps), value_text(field.from), value_text(field.to)};
    }
    const std::vector<Step> steps(field.steps.begin(),
                                  field.steps.begin() + static_cast<std::ptrdiff_t>(field.whole));
    const bool came = field.from.is_null();
    return {written(steps), came ? "" : "...", came ? "..." : ""};
  }

  void bind(const Field& field) {
    values_.resize(fixed_);
    values_.emplace_back(earlier_);
    values_.emplace_back(later_);
    values_.emplace_back(pair_->old != nullptr ? pair_->old->body : Node());
    values_.emplace_back(pair_->now != nullptr ? pair_->now->body : Node());
    pool_ = pair_->old != nullptr && !pair_->old->pool.empty() ? pair_->old->pool
            : pair_->now != nullptr                            ? pair_->now->pool
                                                               : std::string();
    values_.emplace_back(arena_.string(pool_));
    values_.emplace_back(field.from);
    values_.emplace_back(field.to);
    std::vector<Node> steps;
    for (const Step& step : field.steps) steps.push_back(arena_.string(step.text));
    values_.emplace_back(arena_.list(steps));
    bound_ = values_.size();
  }

  // Calls `use` with the first row that `fits` and whose condition is true, its variables bound;
  // with nullptr when there is none.
  template <typename Fits, typename Use>
  void for_row(const Fits& fits, const Use& use) {
    for (const Kind* kind : rows_.of(pair_->kind.group, pair_->kind.kind)) {
      values_.resize(bound_);
      kind->shared->bind(values_);
      const std::size_t shared = values_.size();
      for (const Row& row : kind->rows) {
        if (!fits(row)) continue;
        values_.resize(shared);
        row.variables.bind(values_);
        if (row.when && !holds(row.when.get())) continue;
        use(&row);
        return;
      }
    }
    use(nullptr);
  }

  // What cannot be worked out is not true: another row may know, or nobody does.
  bool holds(const cel::Expression& condition) const {
    const cel::Outcome outcome = cel::attempt(*condition.program, values_, arena_);
    return outcome.ok() && outcome.value.is_node() && outcome.value.node().as_boolean();
  }

  Finding finding(const Row* row) {
    Finding out;
    if (row == nullptr) {
      out.reason = "no row of knowledge says what this does";
      return out;
    }
    out.effect = row->effect;
    out.latent = row->latent;
    out.held = row->held;
    out.data_loss = row->data_loss;
    out.actor = row->actor;
    out.parallel = row->parallel;
    out.takes = row->takes;
    out.source = row->source;
    out.sequence = row->sequence;
    out.step = row->step;
    if (row->reason) {
      const cel::TextOutcome text = cel::evaluate(row->reason.get(), values_, arena_);
      if (text.error) {
        out.effect = Effect::unknown;
        out.reason = "what this does cannot be worked out";
      } else {
        out.reason = text.value.node().as_string();
      }
    }
    count(*row, out);
    return out;
  }

  void count(const Row& row, Finding& out) const {
    if (row.pools) {
      const cel::Outcome outcome = cel::attempt(*row.pools.get().program, values_, arena_);
      if (!outcome.ok() || !outcome.value.is_node()) return;
      for (const Node& name : outcome.value.node().items())
        out.pools.emplace_back(name.as_string());
    } else if (!pool_.empty()) {
      out.pools.push_back(pool_);
    }
    std::optional<Count> nodes;
    if (row.nodes) {
      const cel::Outcome outcome = cel::attempt(*row.nodes.get().program, values_, arena_);
      if (!outcome.ok() || !outcome.value.is_node()) return;
      const Node value = outcome.value.node();
      nodes = value.is_map()
                  ? Count{value.get("least").as_integer(), value.get("most").as_integer()}
                  : Count{value.as_integer(), value.as_integer()};
    }
    if (out.pools.empty() && !nodes) return;
    add_up(nodes, out);
  }

  // All nodes of the pools, or as many of them as `nodes` says.
  void add_up(const std::optional<Count>& some, Finding& out) const {
    Count nodes;
    Count gpus;
    bool gpus_known = true;
    for (const std::string& name : out.pools) {
      const Node pool = pool_of(name);
      const Node range = pool.get("nodes");
      if (range.is_null() && !some) return;
      const Count here =
          some ? *some : Count{range.get("min").as_integer(), range.get("max").as_integer()};
      nodes.least += here.least;
      nodes.most += here.most;
      const Node each = pool.get("gpus");
      gpus_known = gpus_known && each.is_integer();
      gpus.least += here.least * each.as_integer();
      gpus.most += here.most * each.as_integer();
    }
    if (some) {
      nodes = *some;
      gpus_known = gpus_known && out.pools.size() == 1;
    }
    out.nodes = nodes;
    if (gpus_known) out.gpus = gpus;
  }

  // As it was: its machines run.
  Node pool_of(const std::string& name) const {
    const Node before = earlier_.get({"pools", name});
    const Node after = later_.get({"pools", name});
    if (before.is_null()) return after;
    if (!before.get("gpus").is_null() || after.get("gpus").is_null()) return before;
    yaml::MapBuilder completed(before);
    completed.set(arena_, "gpus", after.get("gpus"));
    return completed.build(arena_);
  }

  const Rows& rows_;
  yaml::Arena& arena_;
  Node earlier_;
  Node later_;
  std::vector<cel::Value> values_;
  std::size_t fixed_ = 0;  // values of the surroundings
  std::size_t bound_ = 0;  // and of the field
  const Pair* pair_ = nullptr;
  std::string pool_;
};

// What is refused when it is applied; what its controller refuses afterwards holds up nothing else.
bool is_refused(const ObjectChange& object) {
  return std::any_of(object.findings.begin(), object.findings.end(), [](const Finding& finding) {
    return finding.effect == Effect::refused && !finding.held && !finding.latent;
  });
}

// What is refused holds up its whole layer.
void block_layers(std::vector<ObjectChange>& objects) {
  std::map<std::string, std::string> refused;
  for (const ObjectChange& object : objects) {
    if (is_refused(object) && !object.layer.empty()) {
      refused.try_emplace(object.layer, object.kind + "/" + object.name);
    }
  }
  for (ObjectChange& object : objects) {
    const auto found = refused.find(object.layer);
    if (found != refused.end() && !is_refused(object)) object.blocked_by = found->second;
  }
}

// Adds the sequence of a finding; where several are steps of it, the first one counts.
void add_way(const Rows& rows, const Finding& finding, std::vector<Way>& ways) {
  const Sequence* sequence = rows.sequence(finding.sequence);
  if (sequence == nullptr) return;
  const auto known = std::find_if(ways.begin(), ways.end(),
                                  [&](const Way& way) { return way.sequence == sequence; });
  if (known == ways.end()) {
    ways.push_back({sequence, finding.step});
  } else if (finding.step != 0 && (known->step == 0 || finding.step < known->step)) {
    known->step = finding.step;
  }
}

}  // namespace

Effect ObjectChange::worst() const {
  Effect out = Effect::none;
  for (const Finding& finding : findings) {
    if (!finding.held) out = std::max(out, finding.effect);
  }
  return out;
}

Effect Assessment::worst() const {
  Effect out = Effect::none;
  for (const ObjectChange& object : objects) out = std::max(out, object.worst());
  for (const FileChange& file : files) out = std::max(out, file.effect);
  return out;
}

Assessment assess(const Rows& rows, const Side& earlier, const Side& later,
                  const Surroundings& surroundings, yaml::Arena& arena) {
  Assessment out;
  Assess assess(rows, earlier, later, surroundings, arena);
  for (const Pair& pair : pairs_that_differ(rows, earlier, later)) {
    if (!pair.kind.empty()) {
      out.objects.push_back(assess.object(pair));
      continue;
    }
    FileChange file = assess.file(pair);
    if (file.effect != Effect::none) out.files.push_back(std::move(file));
  }
  const Manifest before{"cluster.yaml", {}, {}, earlier.summary};
  const Manifest after{"cluster.yaml", {}, {}, later.summary};
  if (auto change = assess.cluster(before, after)) out.objects.push_back(std::move(*change));
  block_layers(out.objects);
  std::stable_sort(
      out.objects.begin(), out.objects.end(),
      [](const ObjectChange& a, const ObjectChange& b) { return a.worst() > b.worst(); });
  std::stable_sort(out.files.begin(), out.files.end(),
                   [](const FileChange& a, const FileChange& b) { return a.effect > b.effect; });
  for (const ObjectChange& object : out.objects) {
    for (const Finding& finding : object.findings) add_way(rows, finding, out.ways);
  }
  return out;
}

}  // namespace gpuctl::effects
