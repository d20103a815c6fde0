// `gpuctl facts import`: from what an installer or a cluster says to a facts file.
#include <algorithm>
#include <memory>

#include "base/file.hpp"
#include "base/output_tree.hpp"
#include "cli/codes.hpp"
#include "cli/columns.hpp"
#include "cli/facts_inquiry.hpp"
#include "facts/codes.hpp"
#include "facts/facts_file.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

struct FactsImportOptions {
  FactsOptions facts;
  std::string output;
  bool to_stdout = false;
  bool force = false;
  std::vector<std::string> with;  // facts that hold for the moment
};

using facts::Path;

bool lists(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool knows_facts(const Result& result, const std::vector<std::string>& names, Report& report) {
  const std::vector<std::string> known = fact_names(result);
  diag::Sink sink;
  for (const std::string& name : names) {
    if (lists(known, name)) continue;
    sink.error(facts::kNoSuchFact, diag::kNoOrigin,
               "platform `" + result.opened->blueprint.platform->name + "` has no fact `" +
                   shown(name) + "`")
        .expect("one of " + base::join(known, ", "))
        .did_you_mean(name, known);
  }
  const bool good = !sink.has_errors();
  report.show(sink, diag::Sources());
  return good;
}

// Takes out what need not, or should not, be written down.
void leave_out(Inquired& inquired, const std::vector<std::string>& with, Report& report) {
  std::set<std::string> left;
  std::erase_if(inquired.learned.facts, [&](const auto& fact) {
    const std::string& name = fact.first.front();
    if (inquired.learned.passing.contains(name) && !lists(with, name)) {
      left.insert(name);
      return true;
    }
    const auto computed = inquired.computed.find(facts::text_of(fact.first));
    return computed != inquired.computed.end() && yaml::equal(computed->second, fact.second.value);
  });
  diag::Sink sink;
  for (const std::string& name : left) {
    sink.note(facts::kLeftOut, diag::kNoOrigin,
              "the fact `" + name + "` is left out: it holds only for the moment")
        .suggest("`--with " + name + "` writes it down; take it out again once it was used");
  }
  report.show(sink, diag::Sources());
}

// The facts in the order in which the platform has them.
yaml::Node in_order(const yaml::Node& facts, const Result& result) {
  yaml::Arena& arena = *result.arena;
  yaml::MapBuilder out;
  for (const std::string& name : fact_names(result)) {
    if (const yaml::Node* value = facts.find(name)) out.set(arena, name, *value);
  }
  for (const yaml::Entry& entry : facts.entries()) {
    if (out.find(entry.key.as_string()) == nullptr) out.set(entry.key, entry.value);
  }
  return out.build(arena);
}

// What would be another fact in a file that is there.
void tell_changes(const std::string& before, const yaml::Node& now, diag::Diagnostic& error) {
  diag::Sources sources;
  yaml::Arena arena;
  diag::Sink unread;
  const auto tree = yaml::read(sources.add_file("", before), sources, arena, unread);
  if (!tree || !tree->is_map()) {
    error.note("it is no facts file");
    return;
  }
  const auto old = facts::leaves_of(tree->get("spec"));
  for (const auto& [path, value] : facts::leaves_of(now)) {
    const auto known = old.find(path);
    if (known == old.end()) {
      error.note("`" + facts::text_of(path) + "` would be new: `" + value_text(value) + "`");
    } else if (!yaml::equal(known->second, value)) {
      error.note("`" + facts::text_of(path) + "` is `" + value_text(known->second) +
                 "` and would be `" + value_text(value) + "`");
    }
  }
}

// Whole or not at all; says what became of it, or nothing after a diagnostic.
std::string write(const std::string& path, const std::string& text, const yaml::Node& spec,
                  bool force, diag::Sink& sink) {
  auto before = base::read_file(path, pipeline::kMostInputBytes);
  const auto* error = std::get_if<base::FileError>(&before);
  const auto* content = std::get_if<std::string>(&before);
  const auto fail = [&](const std::string& why) {
    sink.error(kUnwritable, diag::kNoOrigin, "cannot write `" + shown(path) + "`: " + why)
        .note("nothing was changed");
    return std::string();
  };
  if (error != nullptr && error->code != ENOENT) return fail(error->text);
  if (content != nullptr && *content == text) return "unchanged";
  if (content != nullptr && !force) {
    diag::Diagnostic& differs =
        sink.error(facts::kFileDiffers, diag::kNoOrigin,
                   "`" + shown(path) + "` is there, and would be another one");
    tell_changes(*content, spec, differs);
    differs
        .suggest("see that the new values are right; `--force` writes them, and keeps no comment")
        .note("nothing was changed");
    return {};
  }
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  auto opened = base::OutputTree::open(directory);
  if (const auto* why = std::get_if<base::FileError>(&opened)) return fail(why->text);
  auto& tree = std::get<base::OutputTree>(opened);
  const auto failed = tree.write(slash == std::string::npos ? path : path.substr(slash + 1), text);
  if (failed) return fail(failed->text);
  return "wrote";
}

// The facts file with what was learned, checked as later runs read it.
std::optional<std::string> checked_text(const FactsImportOptions& options, const Result& result,
                                        const yaml::Node& spec, const std::string& path,
                                        Knowledge& knowledge, Report& report) {
  yaml::MapBuilder none;
  std::string text = facts::facts_file(result.opened->blueprint.name, none.build(*result.arena),
                                       spec, *result.arena);
  FactsOptions again = options.facts;
  again.facts = path;
  const auto trial = run_for_facts(again, knowledge, report,
                                   [&](Request& request) { request.given[path] = text; });
  if (trial == nullptr) return std::nullopt;
  diag::Sink sink;
  for (const diag::Diagnostic& one : trial->loaded->betrayed.all()) sink.add(one);
  report.show(sink, *trial->sources);
  if (sink.has_errors()) return std::nullopt;
  return text;
}

void record(const Inquired& inquired, const Result& result, ResultDocument& document) {
  yaml::Arena& arena = document.arena();
  std::vector<yaml::Node> rows;
  for (const auto& [path, said] : inquired.learned.facts) {
    yaml::MapBuilder row;
    row.set(arena, "fact", arena.string(facts::text_of(path)));
    row.set(arena, "value", arena.clone(said.value));
    row.set(arena, "source", arena.string(shown(said.place)));
    row.set(arena, "kind", arena.string(said.row));
    rows.push_back(row.build(arena));
  }
  document.set("facts", arena.list(rows));
  document.set("cluster", result.cluster());
}

int run_import(const FactsImportOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const auto result = run_for_facts(options.facts, *knowledge, report);
  if (result == nullptr || !knows_facts(*result, options.with, report)) return kFindings;
  auto inquired = inquire(*result, options.facts, true, *knowledge, report);
  if (!inquired) return kFindings;
  leave_out(*inquired, options.with, report);
  diag::Sink sink;
  for (const auto& [name, owner] : inquired->learned.owners) {
    if (std::none_of(inquired->learned.facts.begin(), inquired->learned.facts.end(),
                     [&, &name = name](const auto& fact) { return fact.first.front() == name; })) {
      continue;
    }
    sink.note(facts::kOwnedByOther, diag::kNoOrigin,
              "in the cluster, " + owner.who + " writes what the fact `" + name + "` says")
        .note("says " + owner.place)
        .suggest("take the value for that of new machines, as of today");
  }
  if (inquired->learned.facts.empty()) {
    sink.error(facts::kNoFacts, diag::kNoOrigin, "the sources tell no fact of this platform")
        .expect("one of " + base::join(fact_names(*result), ", "))
        .suggest("`gpuctl facts show` says how each is obtained");
  }
  const bool good = !sink.has_errors();
  report.show(sink, *result->sources);
  if (!good) return kFindings;
  record(*inquired, *result, *global.result);

  std::map<Path, yaml::Node> all = facts::leaves_of(result->loaded->facts);
  for (const auto& [path, said] : inquired->learned.facts) all[path] = said.value;
  const yaml::Node spec = in_order(facts::tree_of(all, *result->arena), *result);
  const std::string path = options.output.empty() ? result->facts_beside : options.output;
  const auto text = checked_text(options, *result, spec, path, *knowledge, report);
  if (!text) return kFindings;
  if (options.to_stdout) {
    global.result->set("content", *text);
    return print(*text, global) ? kOk : kFindings;
  }
  diag::Sink writing;
  const std::string done = write(path, *text, spec, options.force, writing);
  report.show(writing, *result->sources);
  if (done.empty()) return kFindings;
  global.result->set("file", shown(path));
  global.result->set_flag("written", done == "wrote");
  std::vector<std::vector<std::string>> lines;
  for (const auto& [fact, said] : inquired->learned.facts) {
    lines.push_back({facts::text_of(fact), value_text(said.value), shown(said.place)});
  }
  return print(in_columns(lines, 0) + done + " " + shown(path) + "\n", global) ? kOk : kFindings;
}

RunFunction set_up_facts_import(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<FactsImportOptions>();
  command
      .add_option("SOURCE", options->facts.sources,
                  "Files that an installer or a cluster gave, and directories of installers")
      .type_name("FILE|DIR");
  command.add_option("--blueprint", options->facts.blueprint, "Blueprint of the cluster")
      .required()
      .type_name("FILE");
  options->facts.add_sources(command);
  command
      .add_option("--with", options->with,
                  "Fact to write although it holds only for the moment; may be repeated")
      .type_name("FACT")
      .allow_extra_args(false);
  command
      .add_option("-o,--output", options->output,
                  "Facts file to write (default: NAME.facts.yaml beside the blueprint)")
      .type_name("FILE");
  command.add_flag("--stdout", options->to_stdout, "Print the facts file instead");
  command.add_flag("--force", options->force, "Overwrite a file that differs");
  return [options, &global] {
    options->facts.check_sources("import");
    return run_import(*options, global);
  };
}

}  // namespace

Command facts_import_command() {
  return {
      "import", "Write the facts file of a cluster from what its installer or the cluster says",
      "Sources are what an installer leaves (its directory, metadata.json, its image stream), and\n"
      "objects or descriptions of the cluster as YAML or JSON, lists as well; with --live the\n"
      "cluster itself. `providers/*/facts-sources.yaml` has a row for each.\n"
      "Nothing else of them is kept, printed or quoted. Where two disagree nothing is written,\n"
      "unless --prefer says which counts. What is known already stays.\n\n"
      "Example:\n"
      "  gpuctl facts import metadata.json --blueprint cluster.yaml\n"
      "  gpuctl facts import install-dir stream.json --blueprint cluster.yaml --stdout\n"
      "  gpuctl facts import --live --kubeconfig admin.kubeconfig --blueprint cluster.yaml\n",
      set_up_facts_import};
}

}  // namespace gpuctl::cli
