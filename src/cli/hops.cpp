#include "cli/hops.hpp"

#include <algorithm>

#include "cli/codes.hpp"
#include "cli/columns.hpp"
#include "plan/lock.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

// More lines of something that goes along than anybody has.
constexpr int kMostHopsBetween = 16;

yaml::Node at_path(const yaml::Node& tree, std::string_view path) {
  yaml::Node node = tree;
  for (const std::string_view step : base::split(path, '.')) node = node.get(step);
  return node;
}

std::string as_text(const yaml::Node& node) {
  if (node.is_null()) return "-";
  return node.is_string() ? std::string(node.as_string()) : yaml::emit_json(node);
}

// Whether `version` is `release`, or says more of it: 4.20.3 of 4.20.
bool is_of(std::string_view version, std::string_view release) {
  return version == release || (version.size() > release.size() && version.starts_with(release) &&
                                version[release.size()] == '.');
}

// The axis that commits go along, or null.
yaml::Node axis_of(const catalog::Platform& platform) {
  for (const yaml::Node& axis : platform.axes) {
    if (!axis.get("hops").is_null()) return axis;
  }
  return {};
}

// The field of the blueprint that an axis names, where it stands.
yaml::Node field_of(const Result& result, const yaml::Node& axis) {
  return at_path(result.opened->blueprint.document, axis.get("field").as_string());
}

class HopSearch {
 public:
  HopSearch(const std::string& blueprint, const Request& request, Knowledge& knowledge,
            Report& report)
      : blueprint_(blueprint), request_(request), knowledge_(knowledge), report_(report) {
    // What rules object to on the way means that the commit is made.
    request_.despite_rules = true;
    request_.shadowed = false;
    request_.crds.reset();
  }

  std::optional<Hops> find(const std::string& to) {
    if (!begin()) return std::nullopt;
    const std::string last = out_.hops.back().version;
    const Result now = simulate(last, {});
    if (!now.output) {
      report_.show(now.sink, *now.sources);
      return std::nullopt;
    }
    had_conflict_ = now.derived->conflict.has_value();
    look_at_last(now);
    const std::optional<std::vector<std::string>> targets = targets_of(now, to, last);
    if (!targets) return std::nullopt;
    std::string version = last;
    for (const std::string& target : *targets) {
      if (!go(version, target)) return std::nullopt;
      version = target;
    }
    const auto next = std::find_if(out_.hops.begin(), out_.hops.end(),
                                   [](const Hop& hop) { return hop.state == HopState::later; });
    if (next != out_.hops.end()) next->state = HopState::next;
    return std::move(out_);
  }

 private:
  // What is known before a version is chosen: the cluster, its axis, what earlier commits asked
  // for, and where the blueprint has the version.
  bool begin() {
    const Result first = pipeline::run(blueprint_, request_, knowledge_);
    if (!first.opened || !first.loaded) {
      report_.show(first.sink, *first.sources);
      return false;
    }
    const catalog::Platform& platform = *first.opened->blueprint.platform;
    axis_ = axis_of(platform);
    for (const yaml::Node& axis : platform.axes) {
      if (!axis.get("keep").is_null()) kept_.emplace_back(axis.get("keep").as_string());
    }
    out_.cluster = first.cluster();
    lock_path_ = "clusters/" + out_.cluster + "/" + std::string(plan::kLockFile);
    const yaml::Node recorded = recorded_in(first);
    const yaml::Node field = field_of(first, axis_);
    const diag::Span* span = first.sources->span(field.origin());
    if (recorded.size() == 0 || span == nullptr) {
      diag::Sink sink;
      sink.error(kNoHistory, field.origin(),
                 "no commit of `" + shown(out_.cluster) + "` says which version it has")
          .expect(axis_.is_null() ? "a platform whose updates are commits"
                                  : "`" + std::string(axis_.get({"hops", "history"}).as_string()) +
                                        "` in its `gpuctl.lock`")
          .suggest("commit the cluster with `gpuctl apply` first, with the version that it has");
      report_.show(sink, *first.sources);
      return false;
    }
    const std::string_view text = first.sources->file_text(span->file);
    out_.file = first.sources->file_name(span->file);
    out_.before = text.substr(0, span->begin);
    out_.behind = text.substr(span->end);
    out_.field = axis_.get("field").as_string();
    out_.place = first.sources->place(field.origin());
    out_.written = field.as_string();
    out_.progress = axis_.get({"hops", "progress"}).as_string();
    for (const yaml::Node& column : axis_.get({"hops", "columns"}).items()) {
      out_.titles.emplace_back(column.get("title").as_string());
    }
    for (const yaml::Node& version : recorded.items()) {
      out_.hops.push_back({HopState::done, std::string(version.as_string()), {}, {}, {}});
    }
    return true;
  }

  yaml::Node recorded_in(const Result& result) const {
    if (axis_.is_null() || !result.loaded->old_lock) return {};
    const std::string_view path = axis_.get({"hops", "history"}).as_string();
    for (const derive::Choice& choice : result.loaded->old_lock->choices) {
      if (choice.path == path) return choice.value;
    }
    return {};
  }

  // The run of a commit with this version, on what the ones before it left.
  Result simulate(const std::string& version, const std::vector<std::string>& again) const {
    Request request = request_;
    request.given[out_.file] = with_version(out_, version);
    request.choose_again = again;
    request.earlier = [this](const std::string& path) {
      return path == lock_path_ && lock_ ? lock_ : request_.earlier(path);
    };
    return pipeline::run(blueprint_, request, knowledge_);
  }

  void look_at_last(const Result& now) {
    Hop& last = out_.hops.back();
    last.cells = cells_of(now);
    const bool pending =
        at_path(now.derived->cluster, axis_.get({"hops", "pending"}).as_string()).as_boolean();
    out_.hops.front().why = "the first commit";
    for (std::size_t i = 1; i < out_.hops.size(); ++i) out_.hops[i].why = "an earlier commit";
    if (!pending) return;
    last.state = HopState::asked;
    last.why = "asked for by an earlier commit; `" + out_.progress + "` shows how far it is";
  }

  std::vector<std::string> cells_of(const Result& result) const {
    std::vector<std::string> out;
    for (const yaml::Node& column : axis_.get({"hops", "columns"}).items()) {
      out.push_back(as_text(at_path(result.derived->cluster, column.get("path").as_string())));
    }
    return out;
  }

  // The versions on the way from `last` to `to`; nothing after a shown error.
  std::optional<std::vector<std::string>> targets_of(const Result& now, const std::string& to,
                                                     const std::string& last) const {
    const yaml::Node steps =
        at_path(now.derived->cluster, axis_.get({"hops", "steps"}).as_string());
    std::vector<std::string> ahead;
    std::vector<std::string> out;
    for (const yaml::Node& step : steps.items()) {
      const std::string release(step.as_string());
      ahead.push_back(release);
      if (is_of(last, to)) return out;  // it is there
      if (is_of(to, release)) {
        out.push_back(to);
        return out;
      }
      if (!is_of(last, release)) out.push_back(release);
    }
    diag::Sink sink;
    sink.error(kNoSuchStep, field_of(now, axis_).origin(),
               "no way leads from " + last + " to `" + shown(to) + "`")
        .expect(ahead.empty()
                    ? "a version ahead; gpuctl knows none"
                    : "one of " + base::join(ahead, ", ") + ", or an exact version of one")
        .did_you_mean(to, ahead);
    report_.show(sink, *now.sources);
    return std::nullopt;
  }

  // Adds the commits that lead from one version to the next.
  bool go(const std::string& version, const std::string& target) {
    for (int i = 0; i < kMostHopsBetween; ++i) {
      const Result result = simulate(target, {});
      if (result.output && (had_conflict_ || !result.derived->conflict)) {
        add(result, target, {}, std::string(axis_.get({"hops", "because"}).as_string()));
        return true;
      }
      const Result between = simulate(version, kept_);
      const std::string moved = between.output ? moves_of(between) : "";
      if (moved.empty() || result.output) {
        report_no_way(result, version, target);
        return false;
      }
      add(between, version, kept_, moved + "; what is kept does not go with " + target);
    }
    return false;
  }

  void add(const Result& result, const std::string& version, const std::vector<std::string>& again,
           std::string why) {
    lock_ = result.output->files.files.at(std::string(plan::kLockFile));
    out_.hops.push_back({HopState::later, version, again, cells_of(result), std::move(why)});
  }

  // What is chosen otherwise than in the commit before.
  std::string moves_of(const Result& result) const {
    yaml::Arena arena;
    const yaml::Node before = plan::kept_choices(*result.loaded->old_lock, arena);
    std::vector<std::string> out;
    for (const derive::Choice& choice : result.derived->choices) {
      const yaml::Node* old = before.find(choice.path);
      const bool along = std::find(kept_.begin(), kept_.end(), choice.path) != kept_.end();
      if (!along || old == nullptr || yaml::equal(*old, choice.value)) continue;
      out.push_back(choice.path + " " + as_text(*old) + " -> " + as_text(choice.value) + ", " +
                    choice.because);
    }
    return base::join(out, "; ");
  }

  void report_no_way(const Result& result, const std::string& version,
                     const std::string& target) const {
    diag::Sink sink;
    for (const diag::Diagnostic& found : result.sink.all()) {
      if (found.severity == diag::Severity::error && !result.output) sink.add(found);
    }
    diag::Diagnostic& none = sink.error(kNoWay, field_of(result, axis_).origin(),
                                        "no commit leads from " + version + " to " + target)
                                 .expect("versions of all that goes along which go with both");
    if (result.derived && result.derived->conflict) {
      for (const diag::Label& pin : result.derived->conflict->pins) none.note(pin.text);
      for (const std::string& way : result.derived->conflict->ways_out) none.suggest(way);
    }
    none.suggest("change in the blueprint what holds it back, commit that, and ask again");
    report_.show(sink, *result.sources);
  }

  const std::string& blueprint_;
  Request request_;
  Knowledge& knowledge_;
  Report& report_;
  yaml::Node axis_;
  std::vector<std::string> kept_;  // choices that go along
  std::string lock_path_;
  std::optional<std::string> lock_;  // of the last commit that was worked out
  bool had_conflict_ = false;
  Hops out_;
};

}  // namespace

std::string_view name_of(HopState state) {
  switch (state) {
    case HopState::done:
      return "done";
    case HopState::asked:
      return "asked";
    case HopState::next:
      return "next";
    case HopState::later:
      break;
  }
  return "later";
}

const Hop* Hops::next() const {
  const auto found = std::find_if(hops.begin(), hops.end(),
                                  [](const Hop& hop) { return hop.state == HopState::next; });
  return found == hops.end() ? nullptr : &*found;
}

std::optional<Hops> find_hops(const std::string& blueprint, const std::string& to,
                              const Request& request, Knowledge& knowledge, Report& report) {
  return HopSearch(blueprint, request, knowledge, report).find(to);
}

std::string with_version(const Hops& hops, const std::string& version) {
  return hops.before + "\"" + version + "\"" + hops.behind;
}

std::string as_table(const Hops& hops) {
  constexpr std::size_t kWidth = 80;
  const std::string indent = "     ";
  std::vector<std::vector<std::string>> lines = {{"#", "state"}};
  lines.front().insert(lines.front().end(), hops.titles.begin(), hops.titles.end());
  for (std::size_t i = 0; i < hops.hops.size(); ++i) {
    const Hop& hop = hops.hops[i];
    std::vector<std::string> line = {std::to_string(i), std::string(name_of(hop.state))};
    line.insert(line.end(), hop.cells.begin(), hop.cells.end());
    if (hop.cells.empty()) line.push_back(hop.version);
    line.resize(lines.front().size());
    lines.push_back(std::move(line));
  }
  const std::string table = in_columns(lines, 0);
  std::string out = hops.cluster + "\n";
  std::size_t row = 0;
  for (const std::string_view line : base::split(table, '\n')) {
    if (line.empty()) continue;
    out += std::string(line) + "\n";
    if (row++ > 0) out += wrapped(hops.hops[row - 2].why, kWidth - indent.size(), indent);
  }
  return out;
}

void record_hops(const Hops& hops, ResultDocument& result) {
  yaml::Arena& arena = result.arena();
  std::vector<yaml::Node> rows;
  for (const Hop& hop : hops.hops) {
    yaml::MapBuilder row;
    row.set(arena, "state", arena.string(name_of(hop.state)));
    row.set(arena, "version", arena.string(hop.version));
    row.set(arena, "again", texts(hop.again, arena));
    yaml::MapBuilder values;
    for (std::size_t i = 0; i < hop.cells.size(); ++i) {
      if (hop.cells[i] != "-") values.set(arena, hops.titles[i], arena.string(hop.cells[i]));
    }
    row.set(arena, "values", values.build(arena));
    row.set(arena, "why", arena.string(hop.why));
    rows.push_back(row.build(arena));
  }
  result.set("hops", arena.list(rows));
  const Hop* next = hops.next();
  if (next == nullptr || to_write(hops, *next).empty()) return;
  yaml::MapBuilder write;
  write.set(arena, "field", arena.string(hops.field));
  write.set(arena, "place", arena.string(hops.place));
  write.set(arena, "value", arena.string(next->version));
  result.set("write", write.build(arena));
}

std::string to_write(const Hops& hops, const Hop& hop) {
  if (hops.written == hop.version) return "";
  return "write `" + hops.field + ": \"" + hop.version + "\"` into the blueprint, at " +
         hops.place + "\n";
}

}  // namespace gpuctl::cli
