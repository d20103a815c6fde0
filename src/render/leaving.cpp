#include "render/leaving.hpp"

#include <algorithm>
#include <iterator>

#include "yaml/merge_patch.hpp"
#include "yaml/read.hpp"

namespace gpuctl::render {

namespace {

constexpr std::string_view kLayers = "layers/";
constexpr std::string_view kConfirm = "confirm";

// "management/a.yaml" -> "management".
std::string first_folder(const std::string& path) {
  const std::size_t end = path.find('/');
  return end == std::string::npos ? std::string() : path.substr(0, end);
}

// What tells an object from others, whatever the version of its API.
std::string identity_of(const yaml::Node& body) {
  const std::string_view version = body.get("apiVersion").as_string();
  const std::size_t slash = version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
  return std::string(group) + " " + std::string(body.get("kind").as_string()) + " " +
         std::string(body.get({"metadata", "namespace"}).as_string()) + "/" +
         std::string(body.get({"metadata", "name"}).as_string());
}

// Without the annotations that protect it.
yaml::Node unprotected(const yaml::Node& body, const catalog::KindFacts& kind, yaml::Arena& arena) {
  const yaml::Node metadata = body.get("metadata");
  yaml::MapBuilder annotations;
  for (const yaml::Entry& entry : metadata.get("annotations").entries()) {
    if (kind.annotations.find(entry.key.as_string()) == nullptr) {
      annotations.set(entry.key, entry.value);
    } else if (const yaml::Node* rest = kind.unprotected.find(entry.key.as_string())) {
      annotations.set(entry.key, *rest);
    }
  }
  std::vector<yaml::Entry> rest;
  for (const yaml::Entry& entry : metadata.entries()) {
    if (entry.key.as_string() != "annotations") {
      rest.push_back(entry);
    } else if (!annotations.empty()) {
      rest.push_back({entry.key, annotations.build(arena)});
    }
  }
  yaml::MapBuilder out(body);
  out.set(arena, "metadata", arena.map(rest));
  return out.build(arena);
}

// A document of the last commit; nothing when it is not there or cannot be read.
std::optional<yaml::Node> read_document(const Committed& committed, const std::string& path,
                                        yaml::Arena& arena) {
  const std::optional<std::string> text = committed.read(path);
  if (!text) return std::nullopt;
  diag::Sources sources;
  diag::Sink unread;  // somebody edited it: that is found when it is compared
  yaml::Arena own;
  const std::optional<yaml::Node> body =
      yaml::read(sources.add_file(path, *text), sources, own, unread);
  if (!body || !body->is_map()) return std::nullopt;
  return yaml::without_origins(*body, arena);
}

// True for a file that is not made now because it lacks a fact.
bool waits(const CommittedFile& file, const Rendered& rendered) {
  return std::any_of(
      rendered.withheld.begin(), rendered.withheld.end(),
      [&](const Withheld& withheld) { return withheld.template_name == file.made_by; });
}

}  // namespace

std::string layer_of(const std::string& path) {
  if (!path.starts_with(kLayers)) return {};
  const std::size_t end = path.find('/', kLayers.size());
  return end == std::string::npos ? std::string()
                                  : path.substr(kLayers.size(), end - kLayers.size());
}

void add_leaving(const Committed& committed, const catalog::Platform& platform,
                 const std::set<std::string>& pools, Rendered& out, yaml::Arena& arena) {
  std::set<std::string> paths;
  std::set<std::string> folders;
  for (const Document& document : out.documents) {
    paths.insert(document.path);
    if (!document.folder.empty()) folders.insert(document.folder);
  }
  std::set<std::string> objects;  // filled when it is needed
  std::vector<Document> leaving;
  for (const CommittedFile& file : committed.files) {
    if (paths.contains(file.path) || (file.leaving && committed.go_on)) continue;
    const std::string layer = layer_of(file.path);
    const std::string folder = layer.empty() ? first_folder(file.path) : std::string();
    // With the last object of a folder its wiring goes: nobody would remove what it left behind.
    if (layer.empty() && !folders.contains(folder)) continue;
    if (waits(file, out)) continue;
    const std::optional<yaml::Node> body = read_document(committed, file.path, arena);
    if (!body) continue;
    const catalog::KindFacts* kind =
        platform.kind(body->get("apiVersion").as_string(), body->get("kind").as_string());
    if (kind == nullptr || kind->row.get("protection").as_string() != kConfirm) continue;
    if (objects.empty()) {
      for (const Document& document : out.documents) {
        if (!document.raw) objects.insert(identity_of(document.body));
      }
    }
    if (objects.contains(identity_of(*body))) continue;
    Document document;
    document.path = file.path;
    document.layer = layer;
    document.folder = folder;
    document.pool = file.pool;
    document.kind = kind;
    document.leaving = true;
    document.body = unprotected(*body, *kind, arena);
    const yaml::Node patch = kind->row.get("emptied");
    if (patch.is_map() && !file.pool.empty() && !pools.contains(file.pool)) {
      document.body = yaml::merge_patch(document.body, patch, arena);
    }
    leaving.push_back(std::move(document));
  }
  std::move(leaving.begin(), leaving.end(), std::back_inserter(out.documents));
}

std::set<std::string> emptied_layers(const Committed& committed, const Rendered& rendered) {
  std::set<std::string> out;
  std::set<std::string> waiting;
  for (const CommittedFile& file : committed.files) {
    const std::string layer = layer_of(file.path);
    if (layer.empty()) continue;
    if (waits(file, rendered)) waiting.insert(layer);
    // The list of an empty layer is leaving, and the only file there.
    if (!file.leaving || !committed.go_on) out.insert(layer);
  }
  for (const std::string& layer : waiting) out.erase(layer);
  for (const Document& document : rendered.documents) out.erase(document.layer);
  return out;
}

}  // namespace gpuctl::render
