#include "pipeline/effects_of.hpp"

#include <map>

#include "base/digest.hpp"
#include "yaml/read.hpp"

namespace gpuctl::pipeline {

namespace {

constexpr std::string_view kSummary = "cluster.yaml";
constexpr std::string_view kLayers = "layers/";

// What is applied together: "layers/20-machines/a.yaml" -> "20-machines", "management/a.yaml" ->
// "management".
std::string layer_of(const std::string& path) {
  const std::size_t begin = path.starts_with(kLayers) ? kLayers.size() : 0;
  const std::size_t end = path.find('/', begin);
  return end == std::string::npos ? std::string() : path.substr(begin, end - begin);
}

// A document of a text; the text itself when it is no YAML.
yaml::Node document_of(const std::string& path, const std::string& text, yaml::Arena& arena) {
  diag::Sources sources;
  diag::Sink unread;
  yaml::Arena own;
  const std::optional<yaml::Node> document =
      path.ends_with(".yaml") ? yaml::read(sources.add_file(path, text), sources, own, unread)
                              : std::nullopt;
  return document ? yaml::without_origins(*document, arena) : arena.string(text);
}

effects::Side later_side(const Result& result) {
  effects::Side out;
  for (const render::Document& document : result.rendered().documents) {
    out.manifests.push_back(
        {document.path, layer_of(document.path), document.pool, document.body, document.leaving});
    if (document.path == kSummary) out.summary = document.body;
  }
  return out;
}

effects::Side earlier_side(
    const Result& result, const effects::Side& later,
    const std::function<std::optional<std::string>(const std::string& path)>& read,
    yaml::Arena& arena) {
  std::map<std::string_view, const effects::Manifest*> now;
  for (const effects::Manifest& manifest : later.manifests) now[manifest.path] = &manifest;
  effects::Side out;
  for (const auto& [path, file] : result.loaded->old_lock->files) {
    std::optional<std::string> text = read(path);
    if (!text) continue;
    effects::Manifest manifest{path, layer_of(path), file.pool, {}, file.leaving};
    const auto same = now.find(path);
    const auto content = result.output->files.files.find(path);
    if (same != now.end() && content != result.output->files.files.end() &&
        content->second == *text) {
      manifest.body = same->second->body;
    } else {
      manifest.body = document_of(path, *text, arena);
    }
    if (path == kSummary) out.summary = manifest.body;
    out.manifests.push_back(std::move(manifest));
  }
  return out;
}

}  // namespace

effects::Assessment effects_of(
    const Result& result,
    const std::function<std::optional<std::string>(const std::string& path)>& read) {
  const Compiled& compiled = *result.opened->compiled;
  yaml::Arena& arena = *result.arena;
  const effects::Side later = later_side(result);
  const effects::Side earlier = earlier_side(result, later, read, arena);
  effects::Surroundings surroundings;
  surroundings.values = result.expression_inputs().values();
  compiled.effects->scope().variables->bind(surroundings.values);
  return effects::assess(*compiled.effects, earlier, later, surroundings, arena);
}

}  // namespace gpuctl::pipeline
