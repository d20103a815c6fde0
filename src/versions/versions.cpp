#include "versions/versions.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cel/lazy.hpp"
#include "derive/codes.hpp"
#include "derive/environment.hpp"
#include "versions/codes.hpp"
#include "versions/solver.hpp"

namespace gpuctl::versions {

namespace {

// Levels of constraints. Versions that are not made for each other are the worst: nothing gets
// installed then.
constexpr std::size_t kApart = 0;         // between several versions
constexpr std::size_t kRefused = 1;       // between a version and the rest of the blueprint
constexpr std::size_t kNotSupported = 2;  // the same, but it works

// Ways out of a conflict that a message names.
constexpr std::size_t kMostWaysOut = 3;

struct Axis {
  std::string name;
  std::string title;          // "operator" in "operator 1.2"
  cel::LazyExpression field;  // of the blueprint that pins it
  std::string path;           // of the field that pins it, as messages name it
  std::string keep;           // path of the choice in the lock
  std::string history;        // path of the choice that has all values so far; empty: none has
  cel::LazyExpression when;
  cel::LazyExpression values;
  cel::LazyExpression pin;  // the value that the field pins, when it is another text
  cel::LazyText because;
};

struct Between {
  const rule::Group* group = nullptr;
  const rule::Rule* rule = nullptr;
  std::vector<std::size_t> axes;  // ascending
};

// One choice for one blueprint.
class VersionSearch {
 public:
  VersionSearch(const std::vector<Axis>& axes, const std::vector<Between>& between,
                const rule::Rules& rules, std::span<const cel::Value> values,
                const derive::Earlier& earlier, yaml::Context context)
      : all_axes_(axes),
        between_(between),
        rules_(rules),
        values_(values.begin(), values.end()),
        earlier_(earlier),
        context_(context) {}

  derive::Chosen choose() {
    const std::size_t errors_before = context_.sink.error_count();
    for (std::size_t i = 0; i < all_axes_.size(); ++i) look_at(i);
    if (context_.sink.error_count() != errors_before) return {};
    Solver solver(free(), constraints());
    Pins pins;
    for (const Known& axis : axes_) pins.push_back(axis.pin);
    Pins with_kept = pins;
    bool any_kept = false;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (pins[i] || !axes_[i].kept) continue;
      with_kept[i] = axes_[i].kept;
      any_kept = true;
    }
    Solution solution = solver.best(pins);
    const std::vector<std::size_t> today = solution.values;
    if (any_kept) {
      Solution as_kept = solver.best(with_kept);
      // A value that is worse by itself, because its support ended, still goes with the rest.
      const auto together = [](Cost cost) {
        cost[kNotSupported] = 0;
        return cost;
      };
      if (together(as_kept.cost) > together(solution.cost)) {
        refuse_kept(solver, pins, with_kept);
        return {};
      }
      solution = std::move(as_kept);
    }
    return conclude(solver, pins, solution, today);
  }

 private:
  // An axis that this cluster has.
  struct Known {
    const Axis* axis = nullptr;
    std::vector<yaml::Node> values;  // strings; those nobody would choose come last
    std::size_t free = 0;            // how many of them may be chosen
    std::optional<std::size_t> pin;
    diag::Origin pinned_at = diag::kNoOrigin;
    std::optional<std::size_t> kept;
  };

  static std::size_t place_of(Known& known, const yaml::Node& value) {
    const auto found = std::find_if(known.values.begin(), known.values.end(),
                                    [&](const yaml::Node& one) { return yaml::equal(one, value); });
    const auto place = static_cast<std::size_t>(found - known.values.begin());
    if (found == known.values.end()) known.values.push_back(value);
    return place;
  }

  void look_at(std::size_t index) {
    const Axis& axis = all_axes_[index];
    places_.emplace_back(std::nullopt);
    if (axis.when) {
      const std::optional<yaml::Node> when = run(axis.when.get(), axis);
      if (!when || !when->as_boolean()) return;
    }
    Known known;
    known.axis = &axis;
    const std::optional<yaml::Node> values = run(axis.values.get(), axis);
    if (!values) return;
    for (const yaml::Node& value : values->items()) {
      if (value.is_string()) known.values.push_back(value);
    }
    known.free = known.values.size();
    look_for_pin(known);
    const yaml::Node* old = axis.keep.empty() ? nullptr : earlier_.kept(axis.keep);
    if (old != nullptr && !old->is_string()) {
      derive::report_faulty_choice(axis.keep, *old, "text", context_.sink);
    } else if (old != nullptr) {
      known.kept = place_of(known, *old);
    }
    const yaml::Node before = earlier_.choices.get(axis.keep);
    if (before.is_string()) before_.set(context_.arena, axis.name, before);
    if (known.values.empty()) return;
    if (known.free == 0) known.free = known.values.size();
    places_.back() = axes_.size();
    axes_.push_back(std::move(known));
  }

  void look_for_pin(Known& known) {
    const Axis& axis = *known.axis;
    if (!axis.field) return;
    const cel::Outcome field = cel::attempt(*axis.field.get().program, values_, context_.arena);
    if (!field.ok() && field.error->kind != cel::EvalError::Kind::general) return;
    const std::optional<yaml::Node> pin = run(axis.pin ? axis.pin.get() : axis.field.get(), axis);
    if (!pin || !pin->is_string()) return;
    known.pin = place_of(known, *pin);
    if (field.ok() && field.value.is_node()) known.pinned_at = field.value.node().origin();
  }

  std::optional<yaml::Node> run(const cel::Expression& expression, const Axis& axis) {
    cel::Outcome outcome = cel::evaluate(*expression.program, values_, context_.arena);
    if (outcome.ok() && outcome.value.is_node()) return outcome.value.node();
    if (!outcome.ok()) {
      cel::report(*outcome.error, expression, context_.sources, context_.sink)
          .note("while choosing the version of `" + axis.title + "`");
    }
    return std::nullopt;
  }

  // The values that expressions see, as if these versions had been chosen.
  std::vector<cel::Value> with(const yaml::Node& versions) {
    yaml::MapBuilder cluster(values_[derive::kCluster].node());
    cluster.set(context_.arena, "versions", versions);
    std::vector<cel::Value> values = values_;
    values[derive::kCluster] = cel::Value(cluster.build(context_.arena));
    return values;
  }

  Candidates free() const {
    Candidates out;
    for (const Known& known : axes_) {
      std::vector<std::size_t> values;
      for (std::size_t i = 0; i < known.free; ++i) values.push_back(i);
      out.push_back(std::move(values));
    }
    return out;
  }

  std::vector<Constraint> constraints() {
    std::vector<Constraint> out;
    codes_.clear();
    for (const Between& between : between_) {
      Constraint constraint;
      for (const std::size_t axis : between.axes) {
        if (places_[axis]) constraint.axes.push_back(*places_[axis]);
      }
      if (constraint.axes.empty()) continue;
      const bool refused = between.rule->severity == diag::Severity::error;
      constraint.level = constraint.axes.size() > 1 ? kApart : refused ? kRefused : kNotSupported;
      constraint.holds = [this, axes = constraint.axes, group = between.group,
                          rule = between.rule](std::span<const std::size_t> asked) {
        yaml::MapBuilder versions;
        for (std::size_t i = 0; i < axes.size(); ++i) {
          const Known& known = axes_[axes[i]];
          versions.set(context_.arena, known.axis->name, known.values[asked[i]]);
        }
        versions.set(context_.arena, "before", before_.build(context_.arena));
        return rule::holds(rules_, *group, *rule, with(versions.build(context_.arena)),
                           context_.arena);
      };
      codes_.push_back(between.rule->code);
      out.push_back(std::move(constraint));
    }
    return out;
  }

  std::string named(std::size_t axis, std::size_t value) const {
    return axes_[axis].axis->title + " " + std::string(axes_[axis].values[value].as_string());
  }

  // True when the pin of the axis lies ahead of what the cluster was brought to.
  bool is_ahead(const Known& known) const {
    const yaml::Node before = earlier_.choices.get(known.axis->history);
    if (known.axis->history.empty() || !known.pin || before.size() == 0) return false;
    const std::string last(before.items().back().as_string());
    for (std::size_t i = 0; i < known.values.size(); ++i) {
      const std::string release(known.values[i].as_string());
      if (last == release || last.starts_with(release + ".")) return i < *known.pin;
    }
    return false;
  }

  void refuse_kept(Solver& solver, const Pins& pins, const Pins& with_kept) {
    const std::vector<std::size_t> conflict = solver.conflict(with_kept);
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const bool guilty = std::find(conflict.begin(), conflict.end(), axis) != conflict.end();
      if (pins[axis] || !with_kept[axis] || !guilty) continue;
      std::vector<std::string> others;
      std::string ahead;
      for (const std::size_t other : conflict) {
        if (other == axis) continue;
        others.push_back(named(other, *with_kept[other]));
        if (is_ahead(axes_[other])) ahead = axes_[other].values[*with_kept[other]].as_string();
      }
      const yaml::Node value = axes_[axis].values[*with_kept[axis]];
      const std::string& keep = axes_[axis].axis->keep;
      diag::Diagnostic& refused =
          context_.sink
              .error(derive::kChoiceInvalid, earlier_.kept(keep)->origin(),
                     derive::invalid_choice(earlier_, keep))
              .got("\"" + std::string(value.as_string()) + "\"")
              .note(others.empty() ? "it does not go with the blueprint"
                                   : "it does not go with " + base::join(others, ", "));
      if (!ahead.empty()) {
        refused.suggest("`gpuctl upgrade --to " + ahead +
                        "` makes the commits that lead there, in order and one a run");
      }
      refused.suggest("`gpuctl upgrade --only " + keep +
                      "` chooses again; or set the value in the blueprint");
      return;
    }
  }

  derive::Chosen conclude(Solver& solver, const Pins& pins, const Solution& solution,
                          const std::vector<std::size_t>& today) {
    derive::Chosen out;
    yaml::MapBuilder values;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      values.set(context_.arena, axes_[axis].axis->name, axes_[axis].values[solution.values[axis]]);
    }
    values.set(context_.arena, "before", before_.build(context_.arena));
    out.values = values.build(context_.arena);
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const Known& known = axes_[axis];
      if (known.axis->keep.empty()) continue;
      const std::size_t value = solution.values[axis];
      const bool kept = !pins[axis] && known.kept && *known.kept == value;
      std::string why = pins[axis] ? "the blueprint"
                        : value == today[axis]
                            ? because(*known.axis, out.values)
                            : "kept from an earlier run; today it would be " +
                                  std::string(known.values[today[axis]].as_string());
      out.choices.push_back({known.axis->keep, known.values[value], std::move(why), kept});
    }
    // What a conflict costs to explain is paid only when there is one.
    const std::vector<std::size_t> conflict = solver.conflict(pins);
    if (conflict.empty()) return out;
    out.conflict.emplace();
    for (const std::size_t axis : conflict) {
      const Known& known = axes_[axis];
      out.conflict->pins.push_back(
          {known.pinned_at, named(axis, *pins[axis]) + " (`" + known.axis->path + "`)"});
    }
    out.conflict->codes = codes_of(conflict, solution);
    for (const WayOut& way : solver.ways_out(pins, kMostWaysOut)) {
      // As good as without pins, which is not good where nothing goes together.
      if (way.solution.cost[kApart] + way.solution.cost[kRefused] > 0) continue;
      std::vector<std::string> parts;
      for (const std::size_t axis : way.changed) {
        parts.push_back(named(axis, way.solution.values[axis]) + " instead of " +
                        std::string(axes_[axis].values[*pins[axis]].as_string()));
      }
      out.conflict->ways_out.push_back(base::join(parts, " and ") + " goes with the rest");
    }
    return out;
  }

  // Of the rules that `solution` breaks, those that name most of these axes.
  std::vector<std::string> codes_of(const std::vector<std::size_t>& conflict,
                                    const Solution& solution) {
    std::size_t most = 1;
    std::vector<std::string> out;
    const std::vector<Constraint> all = constraints();
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<std::size_t> asked;
      std::size_t shared = 0;
      for (const std::size_t axis : all[i].axes) {
        asked.push_back(solution.values[axis]);
        shared += std::find(conflict.begin(), conflict.end(), axis) != conflict.end() ? 1 : 0;
      }
      if (shared < most || all[i].holds(asked)) continue;
      if (shared > most) out.clear();
      most = shared;
      out.push_back(codes_[i]);
    }
    return out;
  }

  std::string because(const Axis& axis, const yaml::Node& versions) {
    if (!axis.because) return "";
    const cel::TextOutcome text = cel::evaluate(axis.because.get(), with(versions), context_.arena);
    if (!text.error) return std::string(text.value.node().as_string());
    cel::report(*text.error, *text.at, context_.sources, context_.sink);
    return "";
  }

  const std::vector<Axis>& all_axes_;
  const std::vector<Between>& between_;
  const rule::Rules& rules_;
  std::vector<cel::Value> values_;
  const derive::Earlier& earlier_;
  yaml::Context context_;
  std::vector<Known> axes_;
  std::vector<std::string> codes_;                  // of the rules, by constraint
  yaml::MapBuilder before_;                         // what the axes had in the earlier run
  std::vector<std::optional<std::size_t>> places_;  // in axes_, by place in all_axes_
};

class Versions : public derive::Chooser {
 public:
  Versions(std::vector<Axis> axes, std::vector<Between> between,
           std::shared_ptr<const rule::Rules> rules)
      : axes_(std::move(axes)), between_(std::move(between)), rules_(std::move(rules)) {}

  derive::Chosen choose(std::span<const cel::Value> values, const derive::Earlier& earlier,
                        yaml::Context context) const override {
    return VersionSearch(axes_, between_, *rules_, values, earlier, context).choose();
  }

 private:
  std::vector<Axis> axes_;
  std::vector<Between> between_;
  std::shared_ptr<const rule::Rules> rules_;  // owner of what between_ points to
};

class AxisCompiler {
 public:
  AxisCompiler(std::shared_ptr<const cel::Environment> environment, bool thorough,
               diag::Sources& sources, diag::Sink& sink)
      : environment_(std::move(environment)), thorough_(thorough), sources_(sources), sink_(sink) {}

  Axis axis(const yaml::Node& written) {
    Axis out;
    out.name = written.get("name").as_string();
    out.title = written.get("title").as_string();
    out.keep = written.get("keep").as_string();
    out.history = written.get({"hops", "history"}).as_string();
    out.when = lazy<cel::Expression>(written, "when");
    out.values = lazy<cel::Expression>(written, "values");
    out.field = lazy<cel::Expression>(written, "field");
    out.path = written.get(written.find("named") != nullptr ? "named" : "field").as_string();
    out.pin = lazy<cel::Expression>(written, "pin");
    out.because = lazy<cel::Text>(written, "because");
    return out;
  }

 private:
  template <typename T>
  cel::Lazy<T> lazy(const yaml::Node& written, std::string_view key) {
    return cel::lazy<T>(written.get(key), environment_, thorough_, sources_, sink_);
  }

  std::shared_ptr<const cel::Environment> environment_;
  bool thorough_;
  diag::Sources& sources_;
  diag::Sink& sink_;
};

// The axes that a rule is between; a name that is none is a fault of the rule.
std::vector<std::size_t> axes_between(const rule::Rule& rule, const std::vector<Axis>& axes,
                                      diag::Sink& sink) {
  std::vector<std::size_t> out;
  for (const std::string& name : rule.between) {
    const auto axis =
        std::find_if(axes.begin(), axes.end(), [&](const Axis& one) { return one.name == name; });
    if (axis == axes.end()) {
      std::vector<std::string> names;
      for (const Axis& one : axes) names.push_back(one.name);
      sink.error(kFaultyAxis, rule.written.get("between").origin(),
                 "no version `" + name + "` for rule " + rule.code)
          .expect("one of " + base::join(names, ", "))
          .did_you_mean(name, names);
      continue;
    }
    out.push_back(static_cast<std::size_t>(axis - axes.begin()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::shared_ptr<const derive::Chooser> compile(const catalog::Platform& platform,
                                               std::shared_ptr<const cel::Environment> environment,
                                               std::shared_ptr<const rule::Rules> rules,
                                               bool thorough, diag::Sources& sources,
                                               diag::Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  AxisCompiler compiler(std::move(environment), thorough, sources, sink);
  std::vector<Axis> axes;
  for (const yaml::Node& written : platform.axes) axes.push_back(compiler.axis(written));
  std::vector<Between> between;
  for (const auto& group : rules->groups) {
    if (group->has_gate()) continue;  // none is behind one
    for (const rule::Rule& rule : group->rules()) {
      if (rule.between.empty()) continue;
      Between made{group.get(), &rule, axes_between(rule, axes, sink)};
      if (rule.severity != diag::Severity::note) between.push_back(std::move(made));
    }
  }
  if (sink.error_count() != errors_before) return nullptr;
  return std::make_shared<const Versions>(std::move(axes), std::move(between), std::move(rules));
}

}  // namespace gpuctl::versions
