#include "catalog/platform.hpp"

#include <gtest/gtest.h>

#include "support/knowledge.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::catalog {
namespace {

using testing::Files;
using testing::Lab;
using testing::lab;
using testing::wrap;

TEST(Platform, Loads) {
  Lab lab;
  ASSERT_NE(lab.platform, nullptr) << lab.report();
  EXPECT_EQ(platforms(*lab.library), std::vector<std::string>{"lab"});
  const Table* machines = lab.platform->table("machines");
  ASSERT_NE(machines, nullptr);
  EXPECT_EQ(machines->rows.get({"large", "cores"}).as_integer(), 16);
  EXPECT_EQ(lab.platform->catalog.get({"machines", "small", "cores"}).as_integer(), 4);
}

TEST(Platform, JoinsAnnotationsOfProtectionAndCustom) {
  Lab lab;
  const KindFacts* widget = lab.platform->kind("example.com/v1", "Widget");
  ASSERT_NE(widget, nullptr);
  EXPECT_TRUE(widget->namespaced);
  EXPECT_EQ(widget->annotations.get("example.com/prune").as_string(), "confirm,custom");
  EXPECT_EQ(widget->annotations.get("example.com/custom").as_string(), "true");
  EXPECT_TRUE(lab.platform->kind("v1", "ConfigMap")->annotations.is_null());
  EXPECT_EQ(lab.platform->kind("v2", "ConfigMap"), nullptr);
}

struct Fault {
  const char* what;
  const char* file;
  std::string text;
  const char* codes;
};

TEST(Platform, ReportsFaultyKnowledge) {
  const std::vector<Fault> faults = {
      {"folder that is not there", "providers/lab/provider.yaml",
       wrap("Provider", "  platform: true\n  builds: [lab, gone]\n"), "GPU0402"},
      {"template that is not there", "providers/lab/provider.yaml",
       wrap("Provider", "  platform: true\n  builds: [lab]\n  templates: [gone.yaml]\n"),
       "GPU0402"},
      {"two rows of one key", "providers/lab/tables/machines.yaml",
       wrap("Table",
            "  key: type\n  columns: {type: {type: string}}\n  rows: [{type: a}, {type: a}]\n",
            "machines"),
       "GPU0404"},
      {"row without its key", "providers/lab/tables/machines.yaml",
       wrap("Table", "  key: type\n  columns: {type: {type: string}}\n  rows: [{}]\n", "machines"),
       "GPU0404"},
      {"row with an unknown column", "providers/lab/tables/machines.yaml",
       wrap("Table",
            "  key: type\n  columns: {type: {type: string}}\n  rows: [{type: a, colour: red}]\n",
            "machines"),
       "GPU0201"},
      {"second table of a name", "providers/lab/tables/other.yaml",
       wrap("Table", "  key: a\n  columns: {a: {type: string}}\n  rows: []\n", "machines"),
       "GPU0402"},
  };
  for (const Fault& fault : faults) {
    Files files = lab();
    files[fault.file] = fault.text;
    Lab broken(files);
    EXPECT_EQ(broken.platform, nullptr) << fault.what;
    EXPECT_EQ(broken.codes(), fault.codes) << fault.what << "\n" << broken.report();
  }
}

// `lab` after a folder `base`, whose schemas share a part.
Files with_base(const std::string& shared, const std::string& disk) {
  Files files = lab();
  files["providers/lab/provider.yaml"] =
      wrap("Provider", "  platform: true\n  builds: [base, lab]\n");
  files["providers/base/provider.yaml"] = wrap("Provider", "  builds: [base]\n");
  files["providers/base/schema.yaml"] = wrap("Schema", R"(  shared:
    size: {type: integer, minimum: 1}
    disk:
      type: object
      description: A disk.
      required: [size]
      properties: {size: {x-gpuctl-shared: size}, kind: {type: string}}
)");
  files["providers/lab/schema.yaml"] =
      wrap("Schema", "  shared: " + shared + "\n  fields: {disk: " + disk + "}\n");
  return files;
}

TEST(Platform, PutsFieldsAtTheirPaths) {
  Files files = with_base("{}", "{type: object}");
  files["providers/base/schema.yaml"] = wrap("Schema", R"(  required: [spec]
  fields:
    spec.pools[].disk: {type: object, required: [size]}
    spec: {required: [pools]}
)");
  files["providers/lab/schema.yaml"] = wrap("Schema", R"(  fields:
    spec.pools[].disk: {properties: {size: {type: integer}}}
    spec.grid[][].x: {type: integer}
)");
  const Lab lab(files);
  ASSERT_NE(lab.platform, nullptr) << lab.report();
  EXPECT_EQ(
      yaml::emit_json(schema::definition(*lab.platform->blueprint)),
      R"({"type":"object","required":["spec"],"properties":{"spec":{"type":"object",)"
      R"("properties":{"pools":{"type":"array","items":{"type":"object","properties":)"
      R"({"disk":{"type":"object","required":["size"],"properties":{"size":)"
      R"({"type":"integer"}}}}}},"grid":{"type":"array","items":{"type":"array","items":)"
      R"({"type":"object","properties":{"x":{"type":"integer"}}}}}},"required":["pools"]}}})");
}

TEST(Platform, SharesPartsOfSchemas) {
  const Lab lab(with_base("{}",
                          "{description: The first., properties: {size: {default: 8}, "
                          "name: {type: string}}, x-gpuctl-shared: disk}"));
  ASSERT_NE(lab.platform, nullptr) << lab.report();
  const yaml::Node disk = schema::definition(*lab.platform->blueprint).get({"properties", "disk"});
  EXPECT_EQ(disk.get("description").as_string(), "The first.");
  EXPECT_EQ(disk.get("required").size(), 1U);
  EXPECT_EQ(disk.get({"properties", "size", "minimum"}).as_integer(), 1);
  EXPECT_EQ(disk.get({"properties", "size", "default"}).as_integer(), 8);
  std::vector<std::string> fields;
  for (const yaml::Entry& entry : disk.get("properties").entries()) {
    fields.emplace_back(entry.key.as_string());
  }
  EXPECT_EQ(fields, (std::vector<std::string>{"size", "kind", "name"}));
  EXPECT_EQ(disk.find("x-gpuctl-shared"), nullptr);
  EXPECT_EQ(schema::definition(*lab.platform->blueprint).find("shared"), nullptr);
}

TEST(Platform, RefusesFaultyPartsOfSchemas) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"{}", "{x-gpuctl-shared: disc}"},                               // unknown
      {"{disk: {type: object}}", "{x-gpuctl-shared: disk}"},           // a second one
      {"{ring: {x-gpuctl-shared: ring}}", "{x-gpuctl-shared: ring}"},  // a circle
  };
  for (const auto& [shared, disk] : faults) {
    const Lab broken(with_base(shared, disk));
    EXPECT_EQ(broken.platform, nullptr) << shared << disk;
    EXPECT_EQ(broken.codes(), "GPU0402") << broken.report();
  }
}

// `lab` with a template that extends a base.
Files with_template(const std::string& base, const std::string& own) {
  Files files = lab();
  files["providers/lab/provider.yaml"] =
      wrap("Provider", "  platform: true\n  builds: [lab]\n  templates: [own.yaml]\n");
  files["templates/base.yaml"] = wrap("TemplateBase", base, "base");
  files["templates/own.yaml"] = wrap("Template", "  extends: base.yaml\n" + own, "own");
  return files;
}

TEST(Platform, TemplatesTakeOverTheirBase) {
  const Lab lab(with_template("  layer: x\n  template: {a: 1, b: {c: 2, d: [3]}, e: 4}\n",
                              "  template: {z: 0, b: {d: [5], y: 6}, x: 7}\n"));
  ASSERT_NE(lab.platform, nullptr) << lab.report();
  const yaml::Node* tree = lab.library->file("templates/own.yaml");
  EXPECT_EQ(yaml::emit_json(tree->get("spec")),
            R"({"layer":"x","template":{"z":0,"a":1,"b":{"c":2,"d":[5],"y":6},"x":7,"e":4}})");
  EXPECT_EQ(tree->get("kind").as_string(), "Template");
  EXPECT_EQ(tree, lab.library->file("templates/own.yaml"));
  EXPECT_NE(lab.library->written("templates/own.yaml")->get("spec").find("extends"), nullptr);
}

TEST(Platform, BasesAreNoTemplates) {
  Files files = with_template("  layer: x\n", "  template: {}\n");
  files["providers/lab/provider.yaml"] =
      wrap("Provider", "  platform: true\n  builds: [lab]\n  templates: [own.yaml, base.yaml]\n");
  const Lab broken(files);
  EXPECT_EQ(broken.platform, nullptr);
  EXPECT_EQ(broken.codes(), "GPU0402") << broken.report();
}

TEST(Platform, SuggestsAName) {
  Lab lab;
  EXPECT_EQ(load_platform(*lab.library, "lap", diag::kNoOrigin, lab.sink), nullptr);
  EXPECT_NE(lab.report().find("did you mean `lab`?"), std::string::npos) << lab.report();
}

TEST(Library, WarnsWhenAShadowedFileMoved) {
  diag::Sources sources;
  const std::string text = "apiVersion: gpuctl.dev/v1alpha1\nkind: Rules\nspec: {rules: []}\n";
  sources.add_file("providers/lab/rules.yaml", text);
  const std::vector<ImageFile> packed = {{"providers/lab/rules.yaml", text, {}}};
  const std::string bytes = write_image(packed, sources);
  const std::optional<Image> image = Image::open(bytes);
  const auto shadow = [&](const std::string& annotation) {
    diag::Sink sink;
    const Library library(
        &*image,
        {{"providers/lab/rules.yaml", "mine.yaml",
          "metadata: {annotations: {gpuctl.dev/shadows: \"" + annotation + "\"}}\n"}},
        sink);
    return sink.all();
  };
  const auto moved = shadow("0000");
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved.front().code, "GPU0405");
  EXPECT_EQ(moved.front().severity, diag::Severity::warning);
  // The right digest is the one that the message names.
  const std::string digest = moved.front().found.substr(7, 64);
  EXPECT_TRUE(shadow(digest).empty());
}

TEST(Library, DigestCountsOverlays) {
  diag::Sink sink;
  const Library one(nullptr, {{"providers/a.yaml", "a", "x: 1\n"}}, sink);
  const Library two(nullptr, {{"providers/a.yaml", "b", "x: 2\n"}}, sink);
  EXPECT_NE(one.digest(), two.digest());
}

}  // namespace
}  // namespace gpuctl::catalog
