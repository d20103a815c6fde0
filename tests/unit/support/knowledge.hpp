// A small platform `lab`, written in the tests as text, for the stages that work on knowledge.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/extends.hpp"
#include "catalog/library.hpp"
#include "catalog/platform.hpp"
#include "diag/print.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::testing {

using Files = std::map<std::string, std::string>;

inline std::string wrap(const std::string& kind, const std::string& spec,
                        const std::string& name = "x") {
  return "apiVersion: gpuctl.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: " + name +
         "}\nspec:\n" + spec;
}

/// The files of the platform `lab`; a test adds to them or replaces some.
inline Files lab() {
  return {
      {"providers/lab/provider.yaml",
       wrap("Provider", "  title: Lab\n  platform: true\n  builds: [lab]\n  templates: []\n")},
      {"providers/lab/schema.yaml", wrap("Schema", R"(  required: [apiVersion, kind, metadata, spec]
  fields:
    apiVersion: {type: string}
    kind: {type: string}
    metadata: {type: object, required: [name], properties: {name: {type: string}}}
    spec:
      type: object
      required: [platform]
      properties:
        platform: {type: string}
        stage: {type: string, default: prod}
        size: {type: integer, default: 2}
        pools:
          type: array
          default: []
          items:
            type: object
            required: [name]
            properties:
              name: {type: string}
              type: {type: string}
        overrides:
          type: array
          items: {type: object, x-kubernetes-preserve-unknown-fields: true}
)")},
      {"providers/lab/derived.yaml", wrap("Schema", R"(  fields:
    name: {type: string}
    size: {type: integer}
    channel: {type: string}
    deep: {type: object, properties: {inner: {type: object, properties: {flag: {type: boolean}}}}}
    pools:
      type: array
      items:
        type: object
        required: [name]
        properties:
          name: {type: string}
          type: {type: string}
          cores: {type: integer}
          zones:
            type: array
            items: {type: object, properties: {name: {type: string}, replicas: {type: integer}, index: {type: integer}}}
)")},
      {"providers/lab/facts.yaml", wrap("Schema", R"(  fields:
    infraID: {type: string, x-gpuctl-obtain: ask the cluster}
)")},
      {"providers/lab/tables/machines.yaml", wrap("Table", R"(  key: type
  title: Machines
  columns:
    type: {type: string}
    cores: {type: integer}
    source: {type: string}
  required: [type, source]
  rows:
    - {type: small, cores: 4, source: test}
    - {type: large, cores: 16, source: test}
)",
                                                  "machines")},
      {"providers/lab/kinds.yaml", wrap("Kinds", R"(  annotations:
    confirm: {example.com/prune: confirm}
    custom: {example.com/prune: custom, example.com/custom: "true"}
  kinds:
    - {apiVersion: v1, kind: ConfigMap, scope: Namespaced, protection: none}
    - {apiVersion: v1, kind: Namespace, scope: Cluster, protection: confirm}
    - {apiVersion: example.com/v1, kind: Widget, scope: Namespaced, protection: confirm, custom: true, ownedByOthers: [/spec/replicas]}
)")},
  };
}

/// A library of such files and the platform `lab` loaded from it.
class Lab {
 public:
  explicit Lab(const Files& files = lab()) {
    std::vector<catalog::Overlay> overlays;
    for (const auto& [path, text] : files) overlays.push_back({path, path, text});
    library = std::make_unique<catalog::Library>(nullptr, std::move(overlays), sink);
    platform = catalog::load_platform(*library, "lab", diag::kNoOrigin, sink);
  }

  /// Loads a blueprint given as text of `spec`.
  std::optional<blueprint::Blueprint> blueprint(const std::string& spec) {
    const std::string text =
        "apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\nmetadata: {name: one}\nspec:\n"
        "  platform: lab\n" +
        spec;
    const diag::FileId file = library->sources().add_file("blueprint.yaml", text);
    auto layers = blueprint::read_layers(file, nullptr, context());
    if (!layers) return std::nullopt;
    return blueprint::load(
        std::move(*layers), "",
        [this](const std::string&, diag::Origin, diag::Sink&) { return platform; }, context());
  }

  yaml::Context context() { return {library->sources(), library->arena(), sink}; }

  yaml::Node parse(const std::string& text) {
    const diag::FileId file = library->sources().add_file("test.yaml", text);
    const std::optional<yaml::Node> node =
        yaml::read(file, library->sources(), library->arena(), sink);
    EXPECT_TRUE(node.has_value()) << report();
    return node.value_or(yaml::Node());
  }

  /// All diagnostics as text.
  std::string report() const {
    std::string out;
    for (const diag::Diagnostic& diagnostic : sink.sorted(library->sources())) {
      diag::print_text(diagnostic, library->sources(), false, out);
    }
    return out;
  }

  /// "GPU0406 GPU0407": the codes, sorted by place.
  std::string codes() const {
    std::string out;
    for (const diag::Diagnostic& diagnostic : sink.sorted(library->sources())) {
      out += (out.empty() ? "" : " ") + diagnostic.code;
    }
    return out;
  }

  diag::Sink sink;
  std::unique_ptr<catalog::Library> library;
  std::shared_ptr<const catalog::Platform> platform;
};

}  // namespace gpuctl::testing
