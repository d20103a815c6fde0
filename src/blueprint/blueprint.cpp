#include "blueprint/blueprint.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "blueprint/codes.hpp"
#include "blueprint/extends.hpp"
#include "blueprint/merge.hpp"
#include "yaml/read.hpp"

namespace gpuctl::blueprint {

namespace {

// The metadata of facts say whose they are; without a name they are taken for what is asked for.
void check_owner(const yaml::Node& metadata, const Blueprint& blueprint, diag::Sink& sink) {
  if (metadata.is_null()) return;
  const yaml::Node name = metadata.get("name");
  if (!metadata.is_map() || !(name.is_null() || name.is_string())) {
    sink.error(kFaultyFacts, metadata.is_map() ? name.origin() : metadata.origin(),
               "the facts do not say whose they are")
        .expect("`metadata: {name: " + blueprint.name + "}`");
    return;
  }
  if (name.is_null() || name.as_string() == blueprint.name) return;
  sink.error(kFactsOfAnother, name.origin(),
             "these are the facts of another cluster: `" + std::string(name.as_string()) + "`")
      .label("not `" + blueprint.name + "`")
      .expect("facts with `metadata.name: " + blueprint.name + "`")
      .suggest("each cluster has facts of its own: give those of `" + blueprint.name +
               "`, or leave `--facts` out and write them into `NAME.facts.yaml` beside the "
               "blueprint");
}

// Fields of shared folders that this platform has no use for (`x-gpuctl-refused: REASON`). Only
// what was written counts, so this comes before the defaults. Reports the outermost of them.
void refuse(const schema::Schema& schema, const yaml::Node& document, diag::Sink& sink) {
  std::vector<std::string> refused;  // path of the last one
  schema::for_each_value(
      schema, document,
      [&](const std::vector<std::string>& path, const yaml::Node& definition,
          const yaml::Node& value) {
        const std::string_view reason = definition.get("x-gpuctl-refused").as_string();
        if (reason.empty()) return;
        if (!refused.empty() && path.size() >= refused.size() &&
            std::equal(refused.begin(), refused.end(), path.begin())) {
          return;
        }
        refused = path;
        sink.error(kRefusedField, value.origin(),
                   "`" + path.back() + "` is no field of platform `" +
                       std::string(document.get("spec").get("platform").as_string()) + "`")
            .label(std::string(reason))
            .suggest("remove it");
      });
}

}  // namespace

void hide_secrets(const schema::Schema& schema, const yaml::Node& document,
                  diag::Sources& sources) {
  schema::for_each_value(
      schema, document,
      [&](const std::vector<std::string>&, const yaml::Node& definition, const yaml::Node& value) {
        if (value.is_scalar() && definition.get("x-gpuctl-secret").as_boolean()) {
          sources.hide(value.origin());
          sources.conceal(value.as_string());
        }
      });
}

namespace {

// The platform that the last of the documents names; null after an error.
yaml::Node platform_of(std::span<const yaml::Node> layers, diag::Sink& sink) {
  yaml::Node platform;
  for (const yaml::Node& layer : layers) {
    const yaml::Node* named = layer.get("spec").find("platform");
    if (named != nullptr) platform = *named;
  }
  if (platform.is_string()) return platform;
  const yaml::Node& document = layers.back();
  const yaml::Node spec = document.get("spec");
  const diag::Origin at = platform.origin() != diag::kNoOrigin ? platform.origin()
                          : spec.is_map() ? document.find_entry("spec")->key.origin()
                                          : document.origin();
  diag::Diagnostic& none =
      sink.error(kNotABlueprint, at,
                 layers.size() == 1 ? "the blueprint names no platform"
                                    : "neither the blueprint nor its bases name a platform")
          .expect("`spec.platform`")
          .suggest("add `platform: NAME`; `gpuctl catalog platforms` lists the names");
  if (layers.size() == 1) {
    none.suggest(
        "if it is a base of others (`extends`), give those to gpuctl: it is checked with each");
  }
  return {};
}

}  // namespace

std::optional<Blueprint> load(std::vector<yaml::Node> layers, const std::string& directory,
                              const FindPlatform& find_platform, yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  const yaml::Node platform = platform_of(layers, sink);
  if (platform.is_null()) return std::nullopt;
  Blueprint blueprint;
  blueprint.platform = find_platform(std::string(platform.as_string()), platform.origin(), sink);
  if (blueprint.platform == nullptr) return std::nullopt;
  const schema::Schema& schema = *blueprint.platform->blueprint;
  const std::size_t errors_before = sink.error_count();
  for (const yaml::Node& layer : layers) hide_secrets(schema, layer, sources);
  yaml::Node document = layers.back();
  if (layers.size() > 1) {
    const yaml::Node& definition = schema::definition(schema);
    document = with_paths_from(definition, merge(definition, layers, context), directory, context);
    blueprint.layers = std::move(layers);
  }
  if (sink.error_count() != errors_before) return std::nullopt;
  refuse(schema, document, sink);
  // Rules of the schema would go on about fields that must go.
  if (sink.error_count() != errors_before) return std::nullopt;
  // Defaults first, as the API server does it: a required field may have a default.
  blueprint.written = document;
  blueprint.document = schema::apply_defaults(schema, document, arena);
  schema::validate(schema, blueprint.document, arena, sources, sink);
  if (sink.error_count() != errors_before) return std::nullopt;
  blueprint.metadata = blueprint.document.get("metadata");
  blueprint.spec = blueprint.document.get("spec");
  blueprint.name = blueprint.metadata.get("name").as_string();
  blueprint.stage = blueprint.spec.get("stage").as_string();
  return blueprint;
}

std::optional<yaml::Node> load_facts(diag::FileId file, const Blueprint& blueprint,
                                     yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  const std::optional<yaml::Node> document = yaml::read(file, sources, arena, sink);
  if (!document || !check_kind(*document, "Facts", kFaultyFacts, file, sources, sink)) {
    return std::nullopt;
  }
  const std::size_t errors_before = sink.error_count();
  check_owner(document->get("metadata"), blueprint, sink);
  for (const yaml::Entry& entry : document->entries()) {
    const std::string_view key = entry.key.as_string();
    if (key != "apiVersion" && key != "kind" && key != "metadata" && key != "spec") {
      sink.error(kFaultyFacts, entry.key.origin(),
                 "unknown field `" + std::string(key) + "` in a facts file")
          .expect("apiVersion, kind, metadata and spec");
    }
  }
  schema::ValidateOptions options;
  options.subject = "facts: ";
  const yaml::Node spec = document->get("spec");
  if (!spec.is_null()) {
    schema::validate(*blueprint.platform->facts, spec, arena, sources, sink, options);
  }
  if (sink.error_count() != errors_before) return std::nullopt;
  return spec.is_map() ? spec : arena.map(std::span<const yaml::Entry>(), document->origin());
}

void check_identity(const yaml::Node& before, const yaml::Node& now, std::string_view found_in,
                    const Blueprint& blueprint, diag::Sink& sink) {
  const auto check = [&](const std::vector<std::string>& path, const yaml::Node& definition,
                         const yaml::Node& value) {
    if (!definition.get("x-gpuctl-identity").as_boolean() || !value.is_scalar()) return;
    yaml::Node old = before;
    for (const std::string& step : path) old = old.get(step);
    if (old.is_null() || yaml::equal(old, value)) return;
    const std::string name = base::join(path, ".");
    sink.error(kIdentityChanged, value.origin(),
               "`" + name + "` of the cluster `" + blueprint.name + "` would change")
        .label("another cluster, or one installed anew")
        .expect("`" + std::string(old.as_string()) + "`, as in `" + std::string(found_in) + "`")
        .suggest(
            "correct the facts; when the cluster was installed anew under its old name, give "
            "`--facts-replace`");
  };
  schema::for_each_value(*blueprint.platform->facts, now, check);
}

}  // namespace gpuctl::blueprint
