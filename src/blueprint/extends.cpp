#include "blueprint/extends.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/path_check.hpp"
#include "base/text.hpp"
#include "blueprint/codes.hpp"
#include "catalog/wrapper.hpp"
#include "secrets/mask.hpp"
#include "yaml/read.hpp"

namespace gpuctl::blueprint {

namespace {

// Why a path cannot name a base, or "". A phrase that follows the path.
std::string unusable(std::string_view path) {
  if (path.find("://") != std::string_view::npos) return "is an address, and nothing is fetched";
  if (path.starts_with("~")) return "begins with `~`, which stands for nothing here";
  // Steps up and `.` are allowed; what is left must be as any path.
  std::string rest;
  for (const std::string_view step : base::split(path, '/')) {
    if (step == ".." || step == ".") continue;
    rest += (rest.empty() && !path.starts_with('/') ? "" : "/") + std::string(step);
  }
  return rest.empty() ? "names no file" : base::unsafe_path_reason(rest);
}

class Bases {
 public:
  Bases(const ReadBase& read, yaml::Context context) : read_(read), context_(context) {}

  void add_all(const std::string& file, const yaml::Node& extends) {
    const std::string normal = std::filesystem::path(file).lexically_normal();
    way_.push_back(normal);
    shown_.push_back(file);
    if (extends.is_list()) {
      for (const yaml::Node& path : extends.items()) add(file, path);
    } else {
      add(file, extends);
    }
    way_.pop_back();
    shown_.pop_back();
  }

  std::vector<yaml::Node>& documents() { return documents_; }

 private:
  void add(const std::string& file, const yaml::Node& path) {
    diag::Sink& sink = context_.sink;
    if (!path.is_string() || path.size() == 0) {
      sink.error(kFaultyExtends, path.origin(), "`extends` names no file")
          .expect("the path of a file, relative to this one, or a list of them")
          .got(path.is_string() ? "an empty text" : std::string(yaml::kind_name(path.kind())));
      return;
    }
    if (const std::string reason = unusable(path.as_string()); !reason.empty()) {
      sink.error(kFaultyExtends, path.origin(),
                 "`" + secrets::masked(std::string(path.as_string())) + "` " + reason)
          .expect("a path relative to the file that names it, such as `../base.yaml`");
      return;
    }
    const std::string name = beside(file, path.as_string());
    if (const auto again = std::find(way_.begin(), way_.end(), name); again != way_.end()) {
      std::vector<std::string> chain(shown_.begin() + (again - way_.begin()), shown_.end());
      chain.push_back(name);
      sink.error(kBasesInCycle, path.origin(), "`" + name + "` extends itself")
          .note(base::join(chain, " -> "))
          .suggest("take one of these steps out");
      return;
    }
    if (!seen_.insert(name).second) return;
    if (way_.size() > kMostBaseDepth || seen_.size() > kMostBases) {
      if (std::exchange(told_, true)) return;
      sink.error(kTooManyBases, path.origin(), "too many bases")
          .expect("at most " + std::to_string(kMostBases) + ", none behind more than " +
                  std::to_string(kMostBaseDepth - 1) + " others");
      return;
    }
    read(name, path);
  }

  void read(const std::string& name, const yaml::Node& path) {
    const auto& [sources, arena, sink] = context_;
    const std::optional<diag::FileId> file = read_(name, path);
    if (!file) return;
    const std::optional<yaml::Node> document = yaml::read(*file, sources, arena, sink);
    if (!document) return;
    diag::Sink kinds;
    if (!check_kind(*document, "Blueprint", kNotABase, *file, sources, kinds)) {
      for (diag::Diagnostic finding : kinds.all()) {
        finding.also(path.origin(), "named as a base here");
        sink.add(std::move(finding));
      }
      return;
    }
    yaml::MapBuilder rest(*document);
    if (const yaml::Node* extends = document->find(kExtends)) {
      add_all(name, *extends);
      rest.remove(kExtends);
    }
    documents_.push_back(rest.build(arena, document->origin()));
  }

  const ReadBase& read_;
  yaml::Context context_;
  std::vector<std::string> way_;    // files from the first to the one that is read
  std::vector<std::string> shown_;  // the same as they are named
  std::set<std::string> seen_;
  std::vector<yaml::Node> documents_;
  bool told_ = false;
};

// Rewrites texts by their schema.
class Paths {
 public:
  Paths(const std::string& directory, yaml::Context context)
      : directory_(directory), context_(context) {}

  yaml::Node rewritten(const yaml::Node& definition, const yaml::Node& value) {
    if (!definition.is_map()) return value;
    if (value.is_map()) return map(definition, value);
    if (value.is_list()) return list(definition.get("items"), value);
    if (!value.is_string() || !definition.get("x-gpuctl-relative").as_boolean()) return value;
    return path(value);
  }

 private:
  yaml::Node map(const yaml::Node& definition, const yaml::Node& value) {
    const yaml::Node fields = definition.get("properties");
    const yaml::Node others = definition.get("additionalProperties");
    std::optional<yaml::MapBuilder> changed;
    for (const yaml::Entry& entry : value.entries()) {
      const yaml::Node* declared = fields.find(entry.key.as_string());
      const yaml::Node now = rewritten(declared != nullptr ? *declared : others, entry.value);
      if (is_same(now, entry.value)) continue;
      if (!changed) changed.emplace(value);
      changed->set(entry.key, now);
    }
    return changed ? changed->build(context_.arena, value.origin()) : value;
  }

  yaml::Node list(const yaml::Node& items, const yaml::Node& value) {
    std::vector<yaml::Node> out;
    bool changed = false;
    for (const yaml::Node& item : value.items()) {
      out.push_back(rewritten(items, item));
      changed = changed || !is_same(out.back(), item);
    }
    return changed ? context_.arena.list(out, value.origin()) : value;
  }

  yaml::Node path(const yaml::Node& value) {
    const diag::Span* span = context_.sources.span(value.origin());
    const std::string text(value.as_string());
    if (span == nullptr || text.starts_with('/') || text.starts_with("~/")) return value;
    const std::string file(context_.sources.file_name(span->file));
    const std::size_t slash = file.rfind('/');
    const std::string home = slash == std::string::npos ? "" : file.substr(0, slash + 1);
    if (home == directory_) return value;
    namespace fs = std::filesystem;
    const fs::path whole = fs::path(home + text).lexically_normal();
    fs::path relative = whole.lexically_relative(directory_.empty() ? "." : directory_);
    // From outside of what the names say no way leads there but the whole one.
    if (relative.empty()) relative = fs::absolute(whole);
    return context_.arena.string(relative.string(), value.origin());
  }

  // The same value, not only an equal one.
  static bool is_same(const yaml::Node& a, const yaml::Node& b) {
    if (a.kind() != b.kind() || a.size() != b.size()) return false;
    if (a.is_string()) return a.as_string().data() == b.as_string().data();
    if (a.is_list()) return a.items().data() == b.items().data();
    return !a.is_map() || a.entries().data() == b.entries().data();
  }

  const std::string& directory_;
  yaml::Context context_;
};

}  // namespace

bool check_kind(const yaml::Node& document, std::string_view kind, std::string_view code,
                diag::FileId file, diag::Sources& sources, diag::Sink& sink) {
  const yaml::Node found_kind = document.get("kind");
  if (document.get("apiVersion").as_string() == catalog::kApiVersion &&
      found_kind.as_string() == kind) {
    return true;
  }
  const yaml::Node found_version = document.get("apiVersion");
  const bool other_version = found_kind.as_string() == kind && found_version.is_string();
  diag::Origin at = other_version          ? found_version.origin()
                    : found_kind.is_null() ? document.origin()
                                           : found_kind.origin();
  // A file without a document has nothing to point to but its start.
  if (at == diag::kNoOrigin) at = sources.add_span(file, 0, 0);
  const std::string wanted = "`" + std::string(kind) + "`";
  diag::Diagnostic& diagnostic =
      sink.error(code, at,
                 other_version ? "this " + wanted + " has another apiVersion"
                               : "this document is not of kind " + wanted)
          .expect("`apiVersion: " + std::string(catalog::kApiVersion) +
                  "` and `kind: " + std::string(kind) + "`");
  if (found_kind.is_string()) {
    diagnostic.got("apiVersion `" + std::string(document.get("apiVersion").as_string()) +
                   "`, kind `" + std::string(found_kind.as_string()) + "`");
  } else if (!document.is_map()) {
    diagnostic.got(document.is_null() ? "nothing" : std::string(yaml::kind_name(document.kind())));
  }
  if (code == kNotABlueprint && found_version.as_string() != catalog::kApiVersion &&
      !other_version) {
    if (document.is_map()) {
      diagnostic.suggest("`gpuctl import` makes a blueprint from manifests that exist");
    }
    diagnostic.suggest("`gpuctl init` writes a first blueprint");
  }
  return false;
}

std::string beside(const std::string& file, std::string_view path) {
  const std::size_t slash = file.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : file.substr(0, slash + 1);
  return std::filesystem::path(directory + std::string(path)).lexically_normal();
}

std::optional<std::vector<yaml::Node>> bases_of(const std::string& file, const yaml::Node& extends,
                                                const ReadBase& read, yaml::Context context) {
  const std::size_t errors_before = context.sink.error_count();
  Bases bases(read, context);
  bases.add_all(file, extends);
  if (context.sink.error_count() != errors_before) return std::nullopt;
  return std::move(bases.documents());
}

std::optional<std::vector<yaml::Node>> read_layers(diag::FileId file, const ReadBase& read,
                                                   yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  const std::optional<yaml::Node> document = yaml::read(file, sources, arena, sink);
  if (!document) return std::nullopt;
  if (!check_kind(*document, "Blueprint", kNotABlueprint, file, sources, sink)) {
    return std::nullopt;
  }
  const yaml::Node* extends = document->find(kExtends);
  if (extends == nullptr) return std::vector<yaml::Node>{*document};
  auto layers = bases_of(std::string(sources.file_name(file)), *extends, read, context);
  if (!layers) return std::nullopt;
  yaml::MapBuilder rest(*document);
  rest.remove(kExtends);
  layers->push_back(rest.build(arena, document->origin()));
  return layers;
}

yaml::Node with_paths_from(const yaml::Node& definition, const yaml::Node& document,
                           const std::string& directory, yaml::Context context) {
  return Paths(directory, context).rewritten(definition, document);
}

}  // namespace gpuctl::blueprint
