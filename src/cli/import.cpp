#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/output_tree.hpp"
#include "base/text.hpp"
#include "cli/batch.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/import_summary.hpp"
#include "cli/release_options.hpp"
#include "document/release.hpp"
#include "secrets/fields.hpp"
#include "secrets/mask.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::size_t kMostFiles = 10'000;
constexpr int kMostDepth = 16;
// Others use anchors; few, and small ones.
constexpr std::size_t kMostAliases = 200;

struct ImportOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string platform;
  bool take_over = false;
  bool strict = false;
};

// Where one file's documents are.
struct Input {
  std::string file;
  std::vector<yaml::Node> documents;
};

bool is_manifest(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

// Finds and reads what the user named.
class Reader {
 public:
  Reader(Knowledge& knowledge, diag::Sources& sources, yaml::Arena& arena, diag::Sink& sink)
      : knowledge_(knowledge), sources_(sources), arena_(arena), sink_(sink) {}

  void add(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      directory(path, 0);
    } else {
      read(path);
    }
  }

  const std::vector<Input>& inputs() const { return inputs_; }
  // Files in directories that hold no manifests by their name.
  std::size_t others() const { return others_; }

 private:
  void directory(const std::string& path, int depth) {
    const auto listed = base::list_directory(path);
    if (const auto* error = std::get_if<base::FileError>(&listed)) {
      unreadable(path, error->text);
      return;
    }
    for (const std::string& name : std::get<std::vector<std::string>>(listed)) {
      if (name.starts_with('.')) continue;
      const std::string below = path + (path.ends_with('/') ? "" : "/") + name;
      struct stat info {};
      if (::stat(below.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
        if (depth == kMostDepth) {
          unreadable(below, "it is over " + std::to_string(kMostDepth) + " folders deep");
          return;
        }
        directory(below, depth + 1);
      } else if (is_manifest(name)) {
        read(below);
      } else {
        ++others_;
      }
      if (inputs_.size() > kMostFiles || sink_.has_errors()) break;
    }
    if (inputs_.size() > kMostFiles) {
      unreadable(path, "there are over " + std::to_string(kMostFiles) + " files in it");
    }
  }

  void read(const std::string& path) {
    auto content = base::read_file(path, kMostInputBytes);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      unreadable(path, error->text);
      return;
    }
    const diag::FileId file = sources_.add_file(path, std::move(std::get<std::string>(content)));
    knowledge_.hide_secrets(file, sources_);
    yaml::ReadLimits limits = yaml::kubectl_limits();
    limits.bytes = kMostInputBytes;
    limits.aliases = kMostAliases;
    std::optional<std::vector<yaml::Node>> documents =
        yaml::read_all(file, sources_, arena_, sink_, limits);
    if (documents) inputs_.push_back({path, std::move(*documents)});
  }

  void unreadable(const std::string& path, const std::string& why) {
    sink_.error(kUnreadable, diag::kNoOrigin, "cannot read `" + shown(path) + "`: " + why);
  }

  Knowledge& knowledge_;
  diag::Sources& sources_;
  yaml::Arena& arena_;
  diag::Sink& sink_;
  std::vector<Input> inputs_;
  std::size_t others_ = 0;
};

// Counts the platforms that alone know a document best.
void vote(const std::vector<yaml::Node>& documents, Knowledge& knowledge,
          std::map<std::string, std::size_t>& votes) {
  for (const yaml::Node& document : documents) {
    const yaml::Node items = document.get("items");
    if (document.get("kind").as_string().ends_with("List") && items.is_list()) {
      vote({items.items().begin(), items.items().end()}, knowledge, votes);
      continue;
    }
    const std::vector<std::string> names = knowledge.platforms_for(document);
    if (names.size() == 1) ++votes[names.front()];
  }
}

// Says of what kinds these documents are.
void tell_kinds(const std::vector<Input>& inputs, diag::Diagnostic& error) {
  std::set<std::string> kinds;
  for (const Input& input : inputs) {
    for (const yaml::Node& document : input.documents) {
      if (document.get("kind").is_string()) kinds.emplace(document.get("kind").as_string());
    }
  }
  if (kinds.empty()) return;
  const std::vector<std::string> listed(kinds.begin(), kinds.end());
  error.note("they are of these kinds: " + shown(base::join(listed, ", ")));
}

// The platform of the documents; empty after a diagnostic.
std::string platform_of(const std::vector<Input>& inputs, Knowledge& knowledge, diag::Sink& sink) {
  std::map<std::string, std::size_t> votes;
  for (const Input& input : inputs) vote(input.documents, knowledge, votes);
  std::string best;
  std::size_t most = 0;
  bool tie = false;
  for (const auto& [name, count] : votes) {
    tie = count == most || (tie && count < most);
    if (count > most) best = name;
    most = std::max(most, count);
  }
  if (!best.empty() && !tie) return best;
  std::vector<std::string> names;
  for (const auto& [name, count] : votes) names.push_back(name);
  diag::Diagnostic& error = sink.error(
      kNothingToImport, diag::kNoOrigin,
      best.empty() ? "none of these documents tells a platform that gpuctl knows"
                   : "these documents belong to several platforms: " + base::join(names, ", "));
  if (best.empty()) {
    error.expect("documents of one of " + base::join(knowledge.names(), ", "));
    tell_kinds(inputs, error);
  }
  error.suggest(best.empty() ? "give machine sets, an install-config or node pools as well, or say "
                               "`--platform`"
                             : "import one cluster at a time, or say `--platform`");
  return {};
}

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
    const auto looked = tree.look(below, kMostInputBytes);
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

std::vector<std::string> releases_in_question(const catalog::Platform& platform,
                                              const ReleaseOptions& given) {
  if (!platform.releases) return {};
  const auto release = given.find(platform.releases->option);
  if (release != given.end()) return {release->second};
  return document::releases_of(platform);
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
  Reader reader(*knowledge, sources, arena, sink);
  for (const std::string& path : options.inputs) reader.add(path);
  const auto give_up = [&] {
    report.show(sink, sources);
    return kFindings;
  };
  if (sink.has_errors()) return give_up();
  const std::string name =
      options.platform.empty() ? platform_of(reader.inputs(), *knowledge, sink) : options.platform;
  if (sink.has_errors()) return give_up();
  const Compiled* platform = knowledge->platform(name, diag::kNoOrigin, sink);
  if (platform == nullptr) return give_up();
  const auto mapping = imports::Mapping::compile(*platform->platform, knowledge->library(),
                                                 knowledge->library().has_overlays(), sink);
  if (mapping == nullptr) return give_up();

  std::vector<imports::Object> objects;
  std::vector<imports::Unknown> unknown;
  for (const Input& input : reader.inputs()) {
    imports::add_objects(input.file, input.documents, *platform->documents, sources, arena, objects,
                         unknown);
  }
  imports::find_twins(objects);
  if (objects.empty()) {
    sink.error(kNothingToImport, diag::kNoOrigin, "there is no manifest in what was given");
    return give_up();
  }
  const std::string directory = options.output + (options.output.ends_with('/') ? "" : "/");
  const Draft draft = make_draft({objects, *platform, *mapping, *knowledge, sources, arena,
                                  directory, releases_in_question(*platform->platform, *given)});
  for (const imports::Unknown& document : unknown) {
    sink.warning(kLost, document.at, "this document is no Kubernetes object: it is not taken over");
  }
  if (reader.others() != 0) {
    sink.note(kLeftOut, diag::kNoOrigin,
              counted(reader.others(), "file") + " without manifests " +
                  (reader.others() == 1 ? "was" : "were") + " not read")
        .note("scripts and texts are no part of an import");
  }
  report_import(draft, objects, knowledge->secret_rules(), sources, arena, sink);
  const bool lossy = sink.has_warnings();
  report.show(sink, sources);
  diag::Sink writing;
  const bool written = write(draft, options, directory, writing);
  report.show(writing, sources);
  if (!written) return kFindings;
  report.show(draft.trial.sink, *draft.trial.sources);
  std::vector<Ignored> none;
  report.show(prepare_withheld(draft.trial, report, none));

  std::string out;
  for (const auto& [path, content] : draft.files) out += "wrote " + shown(path) + "\n";
  out += import_counts(draft) + "\n";
  if (!draft.added.empty()) {
    out += "gpuctl renders " + counted(draft.added.size(), "document") + " besides:\n";
    for (const std::string& path : draft.added) out += "  " + path + "\n";
  }
  const bool usable = !draft.trial.sink.has_errors();
  if (!usable) {
    out += "the blueprint needs to be mended before it renders: see the errors\n";
  }
  if (!print(out, global)) return kFindings;
  return usable && !(options.strict && lossy) ? kOk : kFindings;
}

}  // namespace

void add_import(CLI::App& app, const GlobalOptions& global, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "import", "Make a blueprint of manifests that exist, and say what it cannot hold");
  auto options = std::make_shared<ImportOptions>();
  command
      ->add_option("manifests", options->inputs,
                   "Files and directories with manifests of one cluster (.yaml, .yml, .json)")
      ->required()
      ->type_name("FILE|DIR");
  command
      ->add_option("-o,--output", options->output,
                   "Directory for NAME.yaml, NAME.facts.yaml and NAME.manifests/")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--platform", options->platform,
                   "Platform of the cluster (default: the one whose documents these are)")
      ->type_name("NAME");
  command->add_flag("--take-over", options->take_over, "Overwrite files that are there already");
  command->add_flag("--strict", options->strict, "Exit with 1 when anything is lost");
  const auto releases = add_release_options(
      *command, "Release of the cluster (default: what fits the manifests best)");
  command->footer(
      "The blueprint is rendered and compared with the manifests. What it does not model becomes "
      "an\n"
      "override, what it does not make an extra manifest; what is lost even so is said, each with\n"
      "its place. Secrets are never copied. Exit code 0: the blueprint renders (what is lost are\n"
      "warnings), 1: it needs to be mended.\n\n"
      "Example:\n"
      "  kubectl get machinesets -A -o yaml > machines.yaml\n"
      "  gpuctl import install-config.yaml machines.yaml -o imported\n"
      "  gpuctl import fleet/clusters/prod/ml -o imported\n");
  command->callback([options, releases, &global, &exit_code] {
    exit_code = run_import(*options, *releases, global);
  });
}

}  // namespace gpuctl::cli
