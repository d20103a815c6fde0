#include <memory>

#include "base/date.hpp"
#include "base/output_tree.hpp"
#include "cli/batch.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/day.hpp"
#include "cli/release_options.hpp"
#include "importer/propose.hpp"

namespace gpuctl::cli {

namespace {

using importer::Draft;

struct ImportOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string platform;
  bool take_over = false;
  bool strict = false;
};

// Writes all files, or none. Nothing that stands there is overwritten unasked.
bool write(const Draft& draft, const ImportOptions& options, const std::string& directory,
           diag::Sink& sink) {
  auto opened = base::OutputTree::open(options.output);
  if (const auto* error = std::get_if<base::FileError>(&opened)) {
    sink.error(kUnwritable, diag::kNoOrigin, "cannot write `" + error->path + "`: " + error->text);
    return false;
  }
  auto& tree = std::get<base::OutputTree>(opened);
  std::optional<base::FileError> error;
  for (const auto& [path, content] : draft.files) {
    const std::string below = path.substr(directory.size());
    const auto looked = tree.look(below, pipeline::kMostInputBytes);
    const auto* seen = std::get_if<base::OutputTree::Seen>(&looked);
    const bool free = seen != nullptr && (seen->kind == base::OutputTree::Seen::Kind::absent ||
                                          seen->content == content);
    if (!free && !options.take_over) {
      sink.error(kUnwritable, diag::kNoOrigin, "`" + shown(path) + "` is there already")
          .note("nothing was changed")
          .suggest("choose another directory, or overwrite it with `--take-over`");
      continue;
    }
    error = tree.stage(below, content);
    if (error) break;
  }
  if (!sink.has_errors() && !error) error = tree.publish();
  if (error) {
    sink.error(kUnwritable, diag::kNoOrigin, "cannot write `" + error->path + "`: " + error->text)
        .note("nothing was changed");
  }
  if (sink.has_errors()) {
    tree.discard();
    return false;
  }
  if (const auto left = tree.keep()) {
    sink.error(kUnwritable, diag::kNoOrigin, "`" + left->path + "`: " + left->text);
  }
  return !sink.has_errors();
}

void record(const Draft& draft, bool usable, ResultDocument& result) {
  yaml::Arena& arena = result.arena();
  std::vector<std::string> files;
  for (const auto& [path, content] : draft.files) files.push_back(shown(path));
  result.set("written", texts(files, arena));
  using importer::Fate;
  const std::pair<Fate, std::string_view> kinds[] = {{Fate::equal, "asRendered"},
                                                     {Fate::overridden, "byOverride"},
                                                     {Fate::manifest, "asWritten"},
                                                     {Fate::left_out, "onlyRead"},
                                                     {Fate::lost, "lost"}};
  yaml::MapBuilder documents;
  for (const auto& [fate, name] : kinds) {
    const auto count = static_cast<std::int64_t>(importer::count_of(draft, fate));
    documents.set(arena, name, yaml::Node::integer(count));
  }
  result.set("documents", documents.build(arena));
  result.set("added", texts(draft.added, arena));
  result.set_flag("renders", usable);
}

int run_import(const ImportOptions& options, const ReleaseOptions& release_options,
               const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const std::optional<ReleaseOptions> given = given_releases(release_options, *knowledge, report);
  if (!given) return kUsageError;
  diag::Sources sources(&knowledge->library().sources());
  yaml::Arena arena;
  diag::Sink sink;
  const std::string directory = options.output + (options.output.ends_with('/') ? "" : "/");
  const std::optional<Draft> made = importer::propose(
      {options.inputs, options.platform, *given, directory, base::day_text(chosen_day({}))},
      *knowledge, {sources, arena, sink});
  if (!made) {
    report.show(sink, sources);
    return kFindings;
  }
  const Draft& draft = *made;
  const bool lossy = sink.has_warnings();
  const bool harmful = sink.has_errors();
  report.show(sink, sources);
  if (harmful) return kFindings;
  diag::Sink writing;
  const bool written = write(draft, options, directory, writing);
  report.show(writing, sources);
  if (!written) return kFindings;
  report.show(draft.trial.sink, *draft.trial.sources);
  std::vector<pipeline::Ignored> none;
  report.show(prepare_withheld(draft.trial, report, none));

  std::string out;
  for (const auto& [path, content] : draft.files) out += "wrote " + shown(path) + "\n";
  out += importer::counts(draft) + "\n";
  if (!draft.added.empty()) {
    out += "gpuctl renders " + counted(draft.added.size(), "document") + " besides:\n";
    for (const std::string& path : draft.added) out += "  " + path + "\n";
  }
  const bool usable = !draft.trial.sink.has_errors();
  if (global.result->wanted()) record(draft, usable, *global.result);
  if (!usable) {
    out += "the blueprint needs to be mended before it renders: see the errors\n";
  }
  if (!print(out, global)) return kFindings;
  return usable && !(options.strict && lossy) ? kOk : kFindings;
}

RunFunction set_up_import(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<ImportOptions>();
  command
      .add_option("manifests", options->inputs,
                  "Files and directories with manifests of one cluster (.yaml, .yml, .json)")
      .required()
      .type_name("FILE|DIR");
  command
      .add_option("-o,--output", options->output,
                  "Directory for NAME.yaml, NAME.facts.yaml and NAME.manifests/")
      .required()
      .type_name("DIR");
  command
      .add_option("--platform", options->platform,
                  "Platform of the cluster (default: the one whose documents these are)")
      .type_name("PLATFORM");
  command.add_flag("--take-over", options->take_over, "Overwrite files that are there already");
  command.add_flag("--strict", options->strict, "Exit with 1 when anything is lost");
  const auto releases = add_release_options(
      command, "Release of the cluster (default: what fits the manifests best)");
  return [options, releases, &global] { return run_import(*options, *releases, global); };
}

}  // namespace

Command import_command() {
  return {
      "import", "Make a blueprint of manifests that exist, and say what it cannot hold",
      "The blueprint is rendered and compared with the manifests. What it does not model becomes "
      "an\n"
      "override, what it does not make an extra manifest; what is lost even so is said, each with\n"
      "its place. Secrets are never copied. Exit code 0: the blueprint renders (what is lost are\n"
      "warnings), 1: it needs to be mended.\n\n"
      "Example:\n"
      "  kubectl get machinesets -A -o yaml > machines.yaml\n"
      "  gpuctl import install-config.yaml machines.yaml -o imported\n"
      "  gpuctl import fleet/clusters/prod/ml -o imported\n",
      set_up_import};
}

}  // namespace gpuctl::cli
