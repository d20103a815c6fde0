#include "render/documents.hpp"

#include <gtest/gtest.h>

#include "support/scope.hpp"

namespace gpuctl::render {
namespace {

using testing::Files;
using testing::Lab;
using testing::lab;
using testing::scope_of;
using testing::wrap;

struct Made {
  std::map<std::string, std::string> files;  // path -> JSON
  std::vector<std::string> withheld;         // "fact: how"
  std::string codes;
  std::string report;
};

Made run(const std::vector<std::string>& templates, const std::string& spec,
         const std::string& facts = "{}", const std::vector<std::string>& extra = {}) {
  Files files = lab();
  std::string names;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const std::string name = "t" + std::to_string(i) + ".yaml";
    names += (i == 0 ? "" : ", ") + name;
    files["templates/" + name] = wrap("Template", templates[i]);
  }
  files["providers/lab/provider.yaml"] =
      wrap("Provider", "  platform: true\n  builds: [lab]\n  templates: [" + names + "]\n");
  files["providers/lab/derive.yaml"] =
      wrap("Derivation",
           "  rows: [{set: pools, value: spec.pools}, {set: name, value: metadata.name}]\n");
  Lab lab(files);
  Made made;
  if (lab.platform != nullptr) {
    const auto compiled = compile(*lab.platform, derive::base_environment(*lab.platform),
                                  *lab.library, true, lab.sink);
    const auto derivation =
        derive::compile(*lab.platform, scope_of(lab), true, lab.library->sources(), lab.sink);
    const auto blueprint = lab.blueprint(spec);
    if (compiled != nullptr && derivation != nullptr && blueprint) {
      const yaml::Node known = lab.parse(facts);
      const auto derived = derive::derive(*derivation, *blueprint, known, derive::Earlier(),
                                          {lab.library->sources(), lab.library->arena(), lab.sink});
      std::vector<ExtraManifest> manifests;
      for (const std::string& text : extra) {
        manifests.push_back({"50-extra", "extra.yaml", {lab.parse(text)}});
      }
      const Cluster cluster{*blueprint, *derived, known};
      const Rendered rendered = render(*compiled, cluster, manifests, {},
                                       {lab.library->sources(), lab.library->arena(), lab.sink});
      for (const Document& document : rendered.documents) {
        made.files[document.path] = yaml::emit_json(document.body);
      }
      for (const Withheld& item : rendered.withheld) {
        made.withheld.push_back(item.fact + ": " + item.obtain);
      }
    }
  }
  made.codes = lab.codes();
  made.report = lab.report();
  return made;
}

constexpr const char* kWidget = R"(  forEach: [{pool: "${cluster.pools}"}]
  layer: 20-machines
  pool: ${pool.name}
  locals: {full: "${cluster.name + '-' + pool.name}"}
  template:
    apiVersion: example.com/v1
    kind: Widget
    metadata: {name: "${full}", namespace: ns}
)";

TEST(Documents, AreMadeOncePerItemAndNamed) {
  const Made made = run({kWidget}, "  pools: [{name: a}, {name: b}]\n");
  ASSERT_EQ(made.files.size(), 2U) << made.report;
  EXPECT_EQ(made.files.at("layers/20-machines/widget-ns-one-a.yaml"),
            R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one-a",)"
            R"("namespace":"ns","annotations":{"example.com/prune":"confirm,custom",)"
            R"("example.com/custom":"true"}}})");
}

TEST(Documents, OfTheIndexPhaseSeeTheLayers) {
  const Made made = run({kWidget, R"(  phase: index
  raw: true
  forEach: [{layer: "${layers}"}]
  output: layers/${layer.name}/list.yaml
  template:
    files: ${layer.files}
    owned: ${layer.kinds.map(k, k.ownedByOthers)}
    pools: ${layer.objects.map(o, o.pool)}
)"},
                        "  pools: [{name: b}, {name: a}]\n", "{}",
                        {"{apiVersion: v1, kind: Secretless, metadata: {name: z}}"});
  EXPECT_EQ(made.files.at("layers/20-machines/list.yaml"),
            R"({"files":["widget-ns-one-a.yaml","widget-ns-one-b.yaml"],)"
            R"("owned":[["/spec/replicas"]],"pools":["a","b"]})")
      << made.report;
  EXPECT_EQ(made.files.at("layers/50-extra/list.yaml"),
            R"({"files":["secretless-z.yaml"],"owned":[],"pools":[""]})");
}

TEST(Documents, OfAFolderBesideTheLayersAreListedToo) {
  const std::string beside = R"(  forEach: [{pool: "${cluster.pools}"}]
  folder: management
  pool: ${pool.name}
  template: {apiVersion: example.com/v1, kind: Widget, metadata: {name: "one-${pool.name}", namespace: ns}}
)";
  const std::string list = R"(  phase: index
  raw: true
  forEach: [{folder: "${folders}"}]
  output: ${folder.name}/list.yaml
  template:
    files: ${folder.files}
    layers: ${layers.map(l, l.name)}
    pools: ${folder.objects.map(o, o.pool)}
)";
  // The same objects in a layer are for another cluster.
  const Made made = run({kWidget, beside, list}, "  pools: [{name: b}, {name: a}]\n");
  EXPECT_EQ(made.codes, "") << made.report;
  EXPECT_EQ(made.files.at("management/list.yaml"),
            R"({"files":["widget-ns-one-a.yaml","widget-ns-one-b.yaml"],)"
            R"("layers":["20-machines"],"pools":["a","b"]})");
  EXPECT_NE(made.files.at("management/widget-ns-one-a.yaml").find("example.com/prune"),
            std::string::npos);
  EXPECT_EQ(run({beside, beside}, "  pools: [{name: a}]\n").codes, "GPU0415");
  const std::string waits = R"(  folder: management
  template: {apiVersion: v1, kind: Namespace, metadata: {name: "${facts.infraID}"}}
)";
  // What waits for a fact is in no list.
  EXPECT_EQ(run({waits, list}, "").files.count("management/list.yaml"), 0U);
}

TEST(Documents, WaitForFacts) {
  const std::string waits = R"(  layer: a
  template: {apiVersion: v1, kind: Namespace, metadata: {name: "${facts.infraID}"}}
)";
  const Made without = run({waits}, "");
  EXPECT_TRUE(without.files.empty());
  EXPECT_EQ(without.withheld, std::vector<std::string>{"infraID: ask the cluster"});
  EXPECT_EQ(without.codes, "");
  EXPECT_EQ(run({waits}, "", "{infraID: x1}").files.count("layers/a/namespace-x1.yaml"), 1U);
  const std::string asks = R"(  layer: a
  includeWhen: ${has(facts.infraID)}
  template: {apiVersion: v1, kind: Namespace, metadata: {name: ns}}
)";
  EXPECT_TRUE(run({asks}, "").withheld.empty());
}

TEST(Documents, AreCheckedAsObjects) {
  const auto codes = [](const std::string& body, const std::string& more = "  layer: a\n") {
    return run({more + "  template: " + body + "\n"}, "").codes;
  };
  EXPECT_EQ(codes("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}"), "GPU0413");
  EXPECT_EQ(codes("{kind: Pod}"), "GPU0414");
  EXPECT_EQ(codes("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), "GPU0414");
  EXPECT_EQ(codes("{a: 1}", "  raw: true\n  output: ../x\n"), "GPU0416");
  EXPECT_EQ(codes("{a: 1}", "  raw: true\n  output: .git/config\n"), "GPU0416");
  const std::string same =
      "  layer: a\n  template: {apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n";
  EXPECT_EQ(run({same, same}, "").codes, "GPU0415");
  const std::string other =
      "  layer: b\n  template: {apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n";
  EXPECT_EQ(run({same, other}, "").codes, "GPU0415");
}

TEST(Documents, TakeOverrides) {
  const Made made = run({kWidget}, R"(  pools: [{name: a}, {name: b}]
  overrides:
  - target: {pool: a}
    patch: {spec: {size: 3}, metadata: {annotations: {example.com/prune: none}}}
)");
  EXPECT_NE(made.files.at("layers/20-machines/widget-ns-one-a.yaml").find("\"size\":3"),
            std::string::npos)
      << made.report;
  EXPECT_NE(made.files.at("layers/20-machines/widget-ns-one-a.yaml")
                .find("\"example.com/prune\":\"none\""),
            std::string::npos);
  EXPECT_EQ(made.files.at("layers/20-machines/widget-ns-one-b.yaml").find("size"),
            std::string::npos);
}

}  // namespace
}  // namespace gpuctl::render
