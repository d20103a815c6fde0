// `gpuctl facts check`: what a cluster says against what is committed.
#include <algorithm>
#include <memory>

#include "cli/columns.hpp"
#include "cli/facts_inquiry.hpp"
#include "facts/codes.hpp"

namespace gpuctl::cli {

namespace {

using facts::Path;

// What became of one fact.
struct Verdict {
  Path path;
  std::string state;  // equal, differs, owned, unknown, new
  yaml::Node committed;
  yaml::Node live;
  std::string source;  // of the latter
};

class Check {
 public:
  Check(Result& result, const Inquired& inquired, diag::Sink& sink)
      : result_(result), inquired_(inquired), sink_(sink) {}

  std::vector<Verdict> all() {
    std::vector<Verdict> out;
    std::map<Path, yaml::Node> committed = facts::leaves_of(result_.loaded->facts);
    for (const auto& [name, value] : inquired_.computed) {
      if (result_.loaded->facts.find(name) != nullptr) continue;
      for (const auto& [below, leaf] : facts::leaves_of(value)) {
        Path path = {name};
        path.insert(path.end(), below.begin(), below.end());
        committed.emplace(path, leaf);
      }
      if (!value.is_map()) committed.emplace(Path{name}, value);
    }
    std::map<Path, bool> paths;
    for (const auto& [path, value] : committed) paths[path] = true;
    for (const auto& [path, said] : inquired_.learned.facts) paths[path] = true;
    for (const auto& [path, known] : paths) {
      const auto before = committed.find(path);
      const auto now = inquired_.learned.facts.find(path);
      Verdict verdict{path, "unknown", {}, {}, {}};
      if (before != committed.end()) verdict.committed = before->second;
      if (now != inquired_.learned.facts.end()) {
        verdict.live = now->second.value;
        verdict.source = now->second.place;
        verdict.state = before == committed.end() ? "new"
                        : yaml::equal(verdict.committed, verdict.live)
                            ? "equal"
                            : differs(now->second, before->second);
      }
      out.push_back(std::move(verdict));
    }
    return out;
  }

 private:
  std::string differs(const facts::Said& said, const yaml::Node& committed) {
    const std::string name = facts::text_of(said_path(said));
    const auto owner = inquired_.learned.owners.find(said_path(said).front());
    if (owner != inquired_.learned.owners.end()) {
      sink_
          .note(facts::kOwnedByOther, committed.origin(),
                "the fact `" + name + "` is not what the cluster has, which is as it should be")
          .expect("`" + value_text(committed) + "` for new machines")
          .got("`" + value_text(said.value) + "` (" + shown(said.place) + ")")
          .note(owner->second.who + " writes it there, says " + shown(owner->second.place));
      return "owned";
    }
    diag::Diagnostic& error = sink_.error(facts::kDiffers, committed.origin(),
                                          "the fact `" + name + "` is not what the cluster has");
    if (committed.origin() != diag::kNoOrigin) error.label("this is committed");
    error.expect("`" + value_text(said.value) + "`, as " + shown(said.place) + " says")
        .got("`" + value_text(committed) + "`")
        .suggest(
            "see which is right: `gpuctl facts import` with `--force` writes what the cluster "
            "says; when it is of another cluster, ask the right one");
    return "differs";
  }

  const Path& said_path(const facts::Said& said) const {
    return std::find_if(inquired_.learned.facts.begin(), inquired_.learned.facts.end(),
                        [&](const auto& fact) { return &fact.second == &said; })
        ->first;
  }

  Result& result_;
  const Inquired& inquired_;
  diag::Sink& sink_;
};

// Names that earlier commits handed out, which neither a machine nor the blueprint has any more.
std::vector<std::string> idle_names(const Result& result, const Inquired& inquired,
                                    const FactsOptions& options, Knowledge& knowledge,
                                    Report& report) {
  std::vector<std::string> out;
  std::map<std::string, yaml::Node> carried;
  for (const auto& [path, said] : inquired.learned.facts) {
    if (path.size() == 2 && path.front() == "usedNames") carried[path[1]] = said.value;
  }
  if (!result.loaded->old_lock || carried.empty()) return out;
  std::vector<std::string> all;
  for (const auto& [path, names] : result.loaded->old_lock->names) {
    for (const auto& [name, used] : names) {
      const bool idle =
          std::all_of(used.pools.begin(), used.pools.end(), [&, &name = name](const auto& pool) {
            const auto found = carried.find(pool);
            if (found == carried.end()) return false;
            const auto items = found->second.items();
            return std::none_of(items.begin(), items.end(),
                                [&](const yaml::Node& item) { return item.as_string() == name; });
          });
      if (idle) all.push_back(name);
    }
  }
  if (all.empty()) return out;
  const auto without =
      run_for_facts(options, knowledge, report, [&](Request& request) { request.retired = all; });
  if (without == nullptr) return out;
  for (const std::string& name : all) {
    const auto& kept = without->derived->names;
    const bool needed = std::any_of(kept.begin(), kept.end(), [&](const auto& names) {
      return names.second.find(name) != names.second.end();
    });
    if (!needed) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string verdicts_text(const std::vector<Verdict>& verdicts,
                          const std::vector<std::string>& idle) {
  std::vector<std::vector<std::string>> lines = {{"FACT", "STATE", "COMMITTED", "CLUSTER"}};
  for (const Verdict& one : verdicts) {
    const bool committed = one.state != "new";
    const bool live = one.state != "unknown";
    lines.push_back({facts::text_of(one.path), one.state,
                     committed ? value_text(one.committed) : "-",
                     !live                  ? "-"
                     : one.state == "equal" ? "the same"
                                            : value_text(one.live)});
  }
  std::string out = in_columns(lines);
  for (const std::string& name : idle) {
    out += "no machine goes by `" + name + "` any more: `gpuctl retire " + name + "` drops it\n";
  }
  return out;
}

void record(const std::vector<Verdict>& verdicts, const std::vector<std::string>& idle,
            ResultDocument& document) {
  yaml::Arena& arena = document.arena();
  std::vector<yaml::Node> rows;
  for (const Verdict& one : verdicts) {
    yaml::MapBuilder row;
    row.set(arena, "fact", arena.string(facts::text_of(one.path)));
    row.set(arena, "state", arena.string(one.state));
    if (one.state != "new") row.set(arena, "committed", arena.clone(one.committed));
    if (one.state != "unknown") {
      row.set(arena, "cluster", arena.clone(one.live));
      row.set(arena, "source", arena.string(shown(one.source)));
    }
    rows.push_back(row.build(arena));
  }
  document.set("facts", arena.list(rows));
  document.set("idleNames", texts(idle, arena));
}

int run_check(const FactsOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const auto result = run_for_facts(options, *knowledge, report);
  if (result == nullptr) return kFindings;
  const auto inquired = inquire(*result, options, false, *knowledge, report);
  if (!inquired) return kFindings;
  diag::Sink sink;
  const std::vector<Verdict> verdicts = Check(*result, *inquired, sink).all();
  if (inquired->learned.facts.empty()) {
    sink.error(facts::kNoFacts, diag::kNoOrigin, "nothing that was asked tells a fact")
        .expect("one of " + base::join(fact_names(*result), ", "));
  }
  const auto idle = idle_names(*result, *inquired, options, *knowledge, report);
  const bool good = !sink.has_errors();
  report.show(sink, *result->sources);
  global.result->set("cluster", result->cluster());
  record(verdicts, idle, *global.result);
  return print(verdicts_text(verdicts, idle), global) && good ? kOk : kFindings;
}

RunFunction set_up_facts_check(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<FactsOptions>();
  command.add_option("BLUEPRINT", options->blueprint, "Blueprint of the cluster")
      .required()
      .type_name("FILE");
  command.add_option("SOURCE", options->sources, "What to compare with, as of `facts import`")
      .type_name("FILE|DIR");
  options->add_repository(command);
  options->add_sources(command);
  return [options, &global] {
    options->check_sources("check");
    return run_check(*options, global);
  };
}

}  // namespace

Command facts_command() {
  return {
      "facts",
      "Import, show and check what only the installed cluster knows",
      "Example:\n  gpuctl facts import metadata.json --blueprint cluster.yaml\n",
      nullptr,
      {facts_import_command(),
       facts_show_command(),
       {"check", "Compare the facts of a cluster with the cluster itself",
        "Each fact is equal, differs, is owned (somebody else writes it in the cluster, and says "
        "so),\n"
        "new (nothing is committed), or unknown (nothing was said about it). Also says which "
        "names of\n"
        "configurations no machine goes by any more. Exit code 1 when a fact differs.\n\n"
        "Example:\n"
        "  gpuctl facts check cluster.yaml --repo fleet --live\n"
        "  gpuctl facts check cluster.yaml metadata.json machines.yaml\n",
        set_up_facts_check}}};
}

}  // namespace gpuctl::cli
