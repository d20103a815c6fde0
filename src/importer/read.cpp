#include "importer/read.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "diag/character.hpp"
#include "importer/codes.hpp"
#include "pipeline/codes.hpp"
#include "pipeline/inputs.hpp"
#include "yaml/read.hpp"

namespace gpuctl::importer {

namespace {

constexpr std::size_t kMostFiles = 10'000;
constexpr int kMostDepth = 16;
// Others use anchors; few, and small ones.
constexpr std::size_t kMostAliases = 200;

bool is_manifest(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

// Finds and reads what the user named.
class ManifestReader {
 public:
  ManifestReader(pipeline::Knowledge& knowledge, yaml::Context context)
      : knowledge_(knowledge), context_(context) {}

  void add(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      directory(path, 0);
    } else {
      read(path);
    }
  }

  Given take() { return std::move(given_); }

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
        ++given_.others;
      }
      if (given_.files.size() > kMostFiles || context_.sink.has_errors()) break;
    }
    if (given_.files.size() > kMostFiles) {
      unreadable(path, "there are over " + std::to_string(kMostFiles) + " files in it");
    }
  }

  void read(const std::string& path) {
    auto content = base::read_file(path, pipeline::kMostInputBytes);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      unreadable(path, error->text);
      return;
    }
    const diag::FileId file =
        context_.sources.add_file(path, std::move(std::get<std::string>(content)));
    knowledge_.hide_secrets(file, context_.sources);
    yaml::ReadLimits limits = yaml::kubectl_limits();
    limits.bytes = pipeline::kMostInputBytes;
    limits.aliases = kMostAliases;
    std::optional<std::vector<yaml::Node>> documents =
        yaml::read_all(file, context_.sources, context_.arena, context_.sink, limits);
    if (documents) given_.files.push_back({path, std::move(*documents)});
  }

  void unreadable(const std::string& path, const std::string& why) {
    context_.sink.error(pipeline::kUnreadable, diag::kNoOrigin,
                        "cannot read `" + diag::shown(path) + "`: " + why);
  }

  pipeline::Knowledge& knowledge_;
  yaml::Context context_;
  Given given_;
};

// Counts the platforms that alone know a document best, and names those that know one at all.
void vote(const std::vector<yaml::Node>& documents, pipeline::Knowledge& knowledge,
          std::map<std::string, std::size_t>& votes, std::set<std::string>& known) {
  for (const yaml::Node& document : documents) {
    const yaml::Node items = document.get("items");
    if (document.get("kind").as_string().ends_with("List") && items.is_list()) {
      vote({items.items().begin(), items.items().end()}, knowledge, votes, known);
      continue;
    }
    const std::vector<std::string> names = knowledge.platforms_for(document);
    if (names.size() == 1) ++votes[names.front()];
    known.insert(names.begin(), names.end());
  }
}

// Whether a platform takes documents that all have in common (`anywhere` of its folder).
bool is_anywhere(const std::string& platform, pipeline::Knowledge& knowledge) {
  const yaml::Node* provider = knowledge.library().file("providers/" + platform + "/provider.yaml");
  return provider != nullptr && provider->get({"spec", "anywhere"}).as_boolean();
}

// Says of what kinds these documents are.
void tell_kinds(const std::vector<ManifestFile>& files, diag::Diagnostic& error) {
  std::set<std::string> kinds;
  for (const ManifestFile& file : files) {
    for (const yaml::Node& document : file.documents) {
      if (document.get("kind").is_string()) kinds.emplace(document.get("kind").as_string());
    }
  }
  if (kinds.empty()) return;
  const std::vector<std::string> listed(kinds.begin(), kinds.end());
  error.note("they are of these kinds: " + diag::shown(base::join(listed, ", ")));
}

}  // namespace

Given read_manifests(const std::vector<std::string>& paths, pipeline::Knowledge& knowledge,
                     yaml::Context context) {
  ManifestReader reader(knowledge, context);
  for (const std::string& path : paths) reader.add(path);
  return reader.take();
}

std::string platform_of(const std::vector<ManifestFile>& files, pipeline::Knowledge& knowledge,
                        diag::Sink& sink) {
  std::map<std::string, std::size_t> votes;
  std::set<std::string> known;
  for (const ManifestFile& file : files) vote(file.documents, knowledge, votes, known);
  std::string best;
  std::size_t most = 0;
  bool tie = false;
  for (const auto& [name, count] : votes) {
    tie = count == most || (tie && count < most);
    if (count > most) best = name;
    most = std::max(most, count);
  }
  if (!best.empty() && !tie) return best;
  if (best.empty()) {
    const auto anywhere = std::find_if(
        known.begin(), known.end(), [&](const auto& name) { return is_anywhere(name, knowledge); });
    if (anywhere != known.end()) return *anywhere;
  }
  std::vector<std::string> names;
  for (const auto& [name, count] : votes) names.push_back(name);
  diag::Diagnostic& error = sink.error(
      kNothingToImport, diag::kNoOrigin,
      best.empty() ? "none of these documents tells a platform that gpuctl knows"
                   : "these documents belong to several platforms: " + base::join(names, ", "));
  if (best.empty()) {
    error.expect("documents of one of " + base::join(knowledge.names(), ", "));
    tell_kinds(files, error);
  }
  error.suggest(best.empty() ? "give machine sets, an install-config or node pools as well, or say "
                               "`--platform`"
                             : "import one cluster at a time, or say `--platform`");
  return {};
}

}  // namespace gpuctl::importer
