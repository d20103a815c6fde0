// Published CRDs: finding the file that names a kind, and reading it.
#include "schema/crds.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "base/file.hpp"
#include "schema/codes.hpp"
#include "schema/compiled.hpp"
#include "yaml/read.hpp"

namespace gpuctl::schema {

namespace {

using yaml::Node;

/// A file is looked at in two steps: which kinds and groups its text names, then its content.
struct File {
  std::string path;
  bool scanned = false;
  bool parsed = false;
  std::vector<std::string> kinds;   // sorted values of `kind:`
  std::vector<std::string> groups;  // sorted values of `group:`
  std::vector<std::unique_ptr<Crd>> crds;
};

/// The scalars that stand behind `key:` in a text, without quotes, sorted. Good enough to tell
/// that a file cannot hold a kind; the parser decides whether it does.
std::vector<std::string> values_of(std::string_view text, std::string_view key) {
  std::vector<std::string> out;
  for (std::size_t at = text.find(key); at != std::string_view::npos;
       at = text.find(key, at + key.size())) {
    std::size_t here = at + key.size();
    const auto skip = [&](std::string_view set) {
      while (here < text.size() && set.find(text[here]) != std::string_view::npos) ++here;
    };
    skip("\"'");
    if (here >= text.size() || text[here] != ':') continue;
    ++here;
    skip(" \t\"'");
    const std::size_t end = text.find_first_of(" \t\r\n\"',}#", here);
    const std::string_view value =
        text.substr(here, end == std::string_view::npos ? end : end - here);
    if (!value.empty()) out.emplace_back(value);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool has(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

}  // namespace

struct Crds::State {
  std::mutex mutex;
  std::vector<File> files;
  // One table of sources a file, each on top of the one before: a table that schemas refer to never
  // changes again, so that threads may read it while another file is loaded.
  std::vector<std::unique_ptr<diag::Sources>> tables;
  yaml::Arena arena;

  State() { tables.push_back(std::make_unique<diag::Sources>()); }

  void list(const std::string& directory, diag::Sink& sink) {
    namespace fs = std::filesystem;
    std::error_code error;
    std::vector<std::string> paths;
    fs::directory_iterator entries(directory, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      std::error_code ignored;
      if (entries->path().extension() == ".yaml" && !entries->is_directory(ignored)) {
        paths.push_back(entries->path().string());
      }
    }
    if (error) {
      sink.error(kCrdDirectory, diag::kNoOrigin,
                 "cannot read the CRD directory `" + directory + "`")
          .note(error.message());
      return;
    }
    std::sort(paths.begin(), paths.end());
    for (std::string& path : paths) files.emplace_back().path = std::move(path);
  }

  std::optional<std::string> text_of(const File& file, diag::Sink& sink) {
    auto content = base::read_file(file.path, yaml::published_limits().bytes);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      sink.error(kCrdUnusable, diag::kNoOrigin,
                 "cannot read the CRD file `" + file.path + "`: " + error->text);
      return std::nullopt;
    }
    return std::move(std::get<std::string>(content));
  }

  void scan(File& file, diag::Sink& sink) {
    if (file.scanned) return;
    file.scanned = true;
    if (const auto text = text_of(file, sink)) {
      file.kinds = values_of(*text, "kind");
      file.groups = values_of(*text, "group");
    }
  }

  void parse(File& file, diag::Sink& sink) {
    if (file.parsed) return;
    file.parsed = true;
    auto text = text_of(file, sink);
    if (!text) return;
    tables.push_back(std::make_unique<diag::Sources>(tables.back().get()));
    diag::Sources& sources = *tables.back();
    const diag::FileId id = sources.add_file(file.path, *std::move(text));
    diag::Sink findings;
    const auto documents = yaml::read_all(id, sources, arena, findings, yaml::published_limits());
    pass_on(findings, sources, sink);
    if (!documents) return;
    for (const Node& document : *documents) {
      const std::string_view kind = document.get("kind").as_string();
      if (kind == "CustomResourceDefinition") {
        take(document, file, sources, sink);
      } else if (kind == "List" || kind == "CustomResourceDefinitionList") {
        for (const Node& item : document.get("items").items()) {
          if (item.get("kind").as_string() == "CustomResourceDefinition")
            take(item, file, sources, sink);
        }
      }
    }
  }

  void take(const Node& document, File& file, const diag::Sources& sources, diag::Sink& sink) {
    const Node spec = document.get("spec");
    const std::string group(spec.get("group").as_string());
    const std::string kind(spec.get({"names", "kind"}).as_string());
    if (group.empty() || kind.empty() || !spec.get("versions").is_list()) {
      unusable(file, sink, "a CRD without group, kind or versions");
      return;
    }
    for (const Node& version : spec.get("versions").items()) {
      const std::string name(version.get("name").as_string());
      const Node definition = version.get({"schema", "openAPIV3Schema"});
      if (name.empty() || !definition.is_map()) {
        unusable(file, sink, "`" + kind + "` has a version `" + name + "` without a schema");
        continue;
      }
      auto crd = std::make_unique<Crd>();
      crd->group = group;
      crd->version = name;
      crd->kind = kind;
      crd->namespaced = spec.get("scope").as_string() == "Namespaced";
      crd->schema = compile_published(definition, sources, kind);
      crd->file = file.path;
      file.crds.push_back(std::move(crd));
    }
  }

  static void unusable(const File& file, diag::Sink& sink, const std::string& what) {
    sink.warning(kCrdUnusable, diag::kNoOrigin, "unusable CRD in `" + file.path + "`: " + what);
  }

  /// Findings in a CRD file go to a sink whose reader has other sources: positions become text.
  static void pass_on(const diag::Sink& findings, const diag::Sources& sources, diag::Sink& sink) {
    for (diag::Diagnostic finding : findings.all()) {
      if (const std::string at = sources.place(finding.primary.at); !at.empty()) {
        finding.notes.push_back("at " + at);
      }
      finding.primary = {};
      finding.secondary.clear();
      sink.add(std::move(finding));
    }
  }
};

Crds::Crds(const std::vector<std::string>& directories, diag::Sink& sink)
    : state_(std::make_unique<State>()) {
  for (const std::string& directory : directories) state_->list(directory, sink);
}

Crds::~Crds() = default;

const Crd* Crds::find(const std::string& group, const std::string& version, const std::string& kind,
                      diag::Sink& sink) {
  const std::lock_guard lock(state_->mutex);
  for (File& file : state_->files) {
    state_->scan(file, sink);
    if (!has(file.kinds, kind) || !has(file.groups, group)) continue;
    state_->parse(file, sink);
    for (const auto& crd : file.crds) {
      if (crd->kind == kind && crd->group == group && crd->version == version) return crd.get();
    }
  }
  return nullptr;
}

std::vector<const Crd*> Crds::load_all(diag::Sink& sink) {
  const std::lock_guard lock(state_->mutex);
  std::vector<const Crd*> out;
  for (File& file : state_->files) {
    state_->parse(file, sink);
    for (const auto& crd : file.crds) out.push_back(crd.get());
  }
  return out;
}

const diag::Sources& Crds::sources() const {
  const std::lock_guard lock(state_->mutex);
  return *state_->tables.back();
}

}  // namespace gpuctl::schema
