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
#include "cli/import_draft.hpp"
#include "cli/release_options.hpp"
#include "document/release.hpp"
#include "document/secrets.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::size_t kMostFiles = 10'000;
constexpr int kMostDepth = 16;
// Others use anchors; few, and small ones.
constexpr std::size_t kMostAliases = 200;
constexpr std::size_t kMostValueBytes = 120;

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
    document::hide_secrets(file, knowledge_.secret_fields(), sources_);
    yaml::ReadLimits limits;
    limits.bytes = kMostInputBytes;
    limits.aliases = kMostAliases;
    limits.ambiguous_scalars = true;
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
void told(const std::vector<Input>& inputs, diag::Diagnostic& error) {
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
    told(inputs, error);
  }
  error.suggest(best.empty() ? "give machine sets, an install-config or node pools as well, or say "
                               "`--platform`"
                             : "import one cluster at a time, or say `--platform`");
  return {};
}

std::string shortened(const yaml::Node& value) {
  std::string text = yaml::emit_json(value);
  if (text.size() > kMostValueBytes) {
    std::size_t end = kMostValueBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end) + "...";
  }
  return text;
}

// Says what became of the manifests.
class Summary {
 public:
  /// `secrets`: may be nullptr.
  Summary(const Draft& draft, const std::vector<imports::Object>& objects,
          const plan::SecretPatterns* secrets, diag::Sources& sources, diag::Sink& sink)
      : draft_(draft), objects_(objects), secrets_(secrets), sources_(sources), sink_(sink) {}

  void report() {
    for (const Loss& loss : draft_.losses) lost(loss);
    for (std::size_t i = 0; i < objects_.size(); ++i) object(i);
    left_out();
    for (const imports::Assumption& assumption : draft_.assumptions) {
      sink_.note(kAssumed, diag::kNoOrigin, "`" + assumption.path + "` is assumed")
          .note(assumption.because);
    }
  }

  // "12 documents: 10 come out as they are, ..."
  std::string counts() const {
    const std::pair<Fate, const char*> kinds[] = {{Fate::equal, "as rendered"},
                                                  {Fate::overridden, "by an override"},
                                                  {Fate::manifest, "as written"},
                                                  {Fate::left_out, "only read"},
                                                  {Fate::lost, "not or not wholly taken over"}};
    std::vector<std::string> parts;
    for (const auto& [fate, text] : kinds) {
      const auto count = std::count(draft_.fates.begin(), draft_.fates.end(), fate);
      if (count != 0) parts.push_back(std::to_string(count) + " " + text);
    }
    return counted(objects_.size(), "document") + ": " + base::join(parts, ", ");
  }

 private:
  std::string title(std::size_t index) const {
    const imports::Object& object = objects_[index];
    return object.kind.kind + (object.name.empty() ? "" : " " + object.name);
  }

  // True when a value looks like a secret: nothing shows it then.
  bool betrays(const yaml::Node& value) {
    if (secrets_ == nullptr || value.is_null()) return false;
    diag::Sink found;
    secrets_->refuse({"", {{"value", yaml::emit(value)}}}, found);
    return found.has_errors();
  }

  void lost(const Loss& loss) {
    const imports::Object& object = objects_[loss.object];
    const bool hidden = !loss.path.empty() && betrays(loss.wanted);
    const diag::Origin at = hidden ? object.at : loss.wanted.origin();
    if (hidden) sources_.hide(loss.wanted.origin());
    const std::string where =
        loss.path.empty() ? ""
                          : "`" + shown(loss.path) + "` of `" + shown(title(loss.object)) + "`";
    const bool added = !loss.path.empty() && loss.wanted.is_null();
    diag::Diagnostic& warning =
        sink_.warning(kLost, loss.path.empty() || at == diag::kNoOrigin ? object.at : at,
                      loss.path.empty() ? "`" + shown(title(loss.object)) + "` is not taken over"
                      : added           ? where + " is added by the blueprint"
                                        : where + " is not taken over");
    warning.path = loss.path;
    warning.label(loss.path.empty() ? "this document" : added ? "absent here" : "lost");
    if (hidden) warning.note("the value looks like a secret, and is not shown");
    if (!loss.made.is_null()) warning.got(shortened(loss.made) + " from the blueprint");
    if (!loss.path.empty() && !added && !hidden)
      warning.expect(shortened(loss.wanted) + " as written");
    if (!loss.because.empty()) warning.note(loss.because);
  }

  void object(std::size_t index) {
    const imports::Object& object = objects_[index];
    if (draft_.secrets.contains(index)) {
      diag::Diagnostic& warning = sink_.warning(
          kSecretLeftOut, object.at, "the secrets in `" + shown(title(index)) + "` are not copied");
      for (const std::string& path : object.urls) {
        warning.note("`" + shown(path) + "`: the URL comes without its user and password");
      }
      warning.suggest(
          "the blueprint has references in their place: put the values where they point");
    }
    if (draft_.fates[index] == Fate::manifest) {
      sink_.note(kKeptAsWritten, object.at,
                 "`" + shown(title(index)) + "` becomes an extra manifest, as it is");
    }
    const auto overridden = draft_.overridden.find(index);
    if (overridden != draft_.overridden.end()) {
      sink_
          .note(kKeptAsWritten, object.at,
                "`" + shown(title(index)) + "` is brought back by an override")
          .note("it sets " + base::join(overridden->second, ", "));
    }
  }

  // One note for all documents with the same reason.
  void left_out() {
    std::map<std::string, std::vector<std::size_t>> by_reason;
    for (const auto& [index, reason] : draft_.reasons) by_reason[reason].push_back(index);
    for (const auto& [reason, indexes] : by_reason) {
      note(indexes, indexes.size() == 1 ? " is only read" : " are only read", reason);
    }
    for (const auto& [reason, indexes] : draft_.ignored) {
      note(indexes,
           indexes.size() == 1 ? " has a field of a controller" : " have a field of a controller",
           reason);
    }
  }

  void note(const std::vector<std::size_t>& indexes, const std::string& what,
            const std::string& reason) {
    const std::string who =
        "`" + shown(title(indexes.front())) + "`" +
        (indexes.size() == 1 ? "" : " and " + std::to_string(indexes.size() - 1) + " more");
    diag::Diagnostic& said = sink_.note(kLeftOut, objects_[indexes.front()].at, who + what);
    said.note(reason);
    for (std::size_t i = 1; i < indexes.size(); ++i) {
      constexpr std::size_t kMostNamed = 8;
      if (i == kMostNamed) {
        said.note("and " + std::to_string(indexes.size() - i) + " more");
        break;
      }
      said.note("also `" + shown(title(indexes[i])) + "` in " + shown(objects_[indexes[i]].file));
    }
  }

  const Draft& draft_;
  const std::vector<imports::Object>& objects_;
  const plan::SecretPatterns* secrets_;
  diag::Sources& sources_;
  diag::Sink& sink_;
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
  Summary summary(draft, objects, platform->secrets.get().get(), sources, sink);
  summary.report();
  const bool lossy = sink.has_warnings();
  report.show(sink, sources);
  diag::Sink writing;
  const bool written = write(draft, options, directory, writing);
  report.show(writing, sources);
  if (!written) return kFindings;
  report.show(draft.trial.sink, *draft.trial.sources);
  report.show(prepare_withheld(draft.trial, report));

  std::string out;
  for (const auto& [path, content] : draft.files) out += "wrote " + shown(path) + "\n";
  out += summary.counts() + "\n";
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
