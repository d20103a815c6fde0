#include "document/document.hpp"

#include <gtest/gtest.h>

#include "document/release.hpp"
#include "secrets/fields.hpp"
#include "support/knowledge.hpp"

namespace gpuctl::document {
namespace {

using testing::Files;
using testing::Lab;
using testing::lab;
using testing::wrap;

Files files() {
  Files out = lab();
  out["providers/lab/provider.yaml"] =
      wrap("Provider",
           "  title: Lab\n  platform: true\n  builds: [lab]\n  templates: []\n"
           "  releases: {option: lab-version, table: labReleases, features: labFeatures}\n");
  out["providers/lab/tables/releases.yaml"] =
      wrap("Table",
           "  key: minor\n  columns: {minor: {type: string}, ordinal: {type: integer}}\n"
           "  rows:\n    - {minor: \"1.10\", ordinal: 110}\n    - {minor: \"1.9\", ordinal: 109}\n",
           "labReleases");
  out["providers/lab/tables/features.yaml"] =
      wrap("Table",
           "  key: name\n  columns: {name: {type: string}, since: {type: integer}}\n"
           "  rows:\n    - {name: tags, since: 110}\n",
           "labFeatures");
  out["providers/lab/documents/base.yaml"] = wrap("DocumentSchema", R"(
  match:
    - where: {kind: Box}
    - has: [lid]
  convert:
    - set: size
      when: has(document.oldSize) && !has(document.size)
      value: document.oldSize
  shared:
    text: {type: string}
  schema:
    type: object
    x-gpuctl-reader: go
    required: [size]
    properties:
      kind: {type: string}
      lid: {x-gpuctl-shared: text}
      size: {type: integer}
      oldSize: {type: integer}
      open: {type: boolean, default: false}
      tags: {type: array, items: {type: string}}
      password: {type: string, x-gpuctl-secret: true}
)",
                                                  "Box");
  out["providers/lab/documents/metal.yaml"] = wrap("DocumentSchema", R"(
  extends: Box
  match:
    - has: [metal]
  schema:
    type: object
    properties:
      metal: {type: object, properties: {weight: {type: integer}}}
)",
                                                   "MetalBox");
  out["providers/lab/documents/crate.yaml"] = wrap("DocumentSchema", R"(
  match:
    - where: {kind: Crate}
      holds: {data: [boxes]}
  schema:
    type: object
    properties:
      kind: {type: string}
      data:
        type: object
        additionalProperties:
          type: object
          x-gpuctl-text: yaml
          properties:
            boxes: {type: array, items: {type: object, properties: {size: {type: integer}}}}
)",
                                                   "Crate");
  out["providers/lab/documents/rules.yaml"] = wrap("DocumentRules", R"(
  rules:
    - code: GPU9001
      on: Box
      severity: error
      check: document.size > 0
      at: document.size
      message: no size
    - code: GPU9002
      on: Box
      severity: error
      when: has(document.tags)
      check: release.features["tags"]
      at: document.tags
      message: no tags in ${release.minor}
    - code: GPU9003
      on: MetalBox
      severity: warning
      check: has(document.metal.weight)
      at: document.metal
      field: weight
      message: no weight
    - code: GPU9004
      on: Box
      severity: error
      when: has(document.lid)
      check: ip(document.lid).family() == 4
      at: document.lid
      message: no address
    - code: GPU9005
      on: Crate
      severity: warning
      forEach:
        key: document.data.map(key, key)
        box: 'has(document.data[key].boxes) ? document.data[key].boxes : []'
      check: box.size > 0
      at: box.size
      message: no size
    - code: GPU9006
      on: Box
      severity: warning
      needs: cluster
      check: document.size <= cluster.size
      at: document.size
      message: larger than the cluster
    - code: GPU9007
      on: Box
      severity: warning
      needs: cluster
      check: '!objects.exists(one, one.kind == "Box" && one.namespace == "" && one.layer == "b" && one.document.size == 9)'
      at: document.size
      message: another one
)");
  return out;
}

struct Checked {
  bool known = false;
  std::string codes;
  std::vector<diag::Diagnostic> findings;
};

Checked run(const std::string& text, const Context& context = {}, const Files& from = files()) {
  Lab lab(from);
  Checked out;
  if (lab.platform == nullptr) return {false, lab.report(), {}};
  diag::Sources& sources = lab.library->sources();
  const StoreOf none = [](const std::string&) { return nullptr; };
  const auto kinds = Kinds::compile(lab.platform, none, true, sources, lab.sink);
  if (kinds == nullptr) return {false, lab.report(), {}};
  diag::Sink found;
  out.known = kinds->check(lab.parse(text), context, {sources, lab.library->arena(), found});
  for (const diag::Diagnostic& finding : found.all()) {
    out.codes += (out.codes.empty() ? "" : " ") + finding.code;
    if (!finding.path.empty()) out.codes += "@" + finding.path;
  }
  out.findings = found.all();
  return out;
}

TEST(Document, IsRecognisedByWhatItSays) {
  EXPECT_TRUE(run("kind: Box\nsize: 1\n").known);
  EXPECT_TRUE(run("Lid: 10.0.0.1\nsize: 1\n").known);
  EXPECT_FALSE(run("kind: Bag\nsize: 1\n").known);
  EXPECT_FALSE(run("[1]\n").known);
}

TEST(Document, IsDecodedAsGoDoes) {
  EXPECT_EQ(run("kind: Box\nSize: 1.0\n").codes, "GPU0622@Size");
  EXPECT_EQ(run("kind: Box\nsize: 1\ntags: [a, 1.10, true]\n").codes, "GPU0623@tags[1]");
  EXPECT_EQ(run("kind: Box\nsize: 1\ntags: null\nlid: \"\"\n").codes, "");
  EXPECT_EQ(run("kind: Box\nsize: \"1\"\n").codes, "GPU0202@size");
  EXPECT_EQ(run("kind: Box\nsize: 1\nsice: 2\n").codes, "GPU0201@sice");
}

TEST(Document, IsConvertedBeforeItIsChecked) {
  EXPECT_EQ(run("kind: Box\noldSize: 2\n").codes, "");
  EXPECT_EQ(run("kind: Box\noldSize: 0\n").codes, "GPU9001@oldSize");
  EXPECT_EQ(run("kind: Box\n").codes, "GPU0203@size");
}

TEST(Document, SpecialCaseHasTheRulesOfBoth) {
  EXPECT_EQ(run("kind: Box\nsize: 0\nmetal: {}\n").codes, "GPU9003@metal.weight GPU9001@size");
  EXPECT_EQ(run("kind: Bag\nsize: 0\nmetal: {}\n").known, false);
}

TEST(Document, ReleaseDecides) {
  EXPECT_EQ(run("kind: Box\nsize: 1\ntags: [a]\n").codes, "");
  Context older;
  older.release = "1.9";
  EXPECT_EQ(run("kind: Box\nsize: 1\ntags: [a]\n", older).codes, "GPU9002@tags");
}

TEST(Document, CheckThatFailsIsNotMet) {
  EXPECT_EQ(run("kind: Box\nsize: 1\nlid: x\n").codes, "GPU9004@lid");
}

TEST(Document, ErrorsOnlyWithPrefix) {
  Context context;
  context.rendered = true;
  context.prefix = "a.yaml: ";
  const Checked checked = run("kind: Box\nSize: 0\nmetal: {}\n", context);
  ASSERT_EQ(checked.findings.size(), 1U);
  EXPECT_EQ(checked.findings[0].message, "a.yaml: no size");
}

TEST(Document, TextsAreRecognisedByTheirKeys) {
  EXPECT_TRUE(run("kind: Crate\ndata: {a: \"boxes: []\"}\n").known);
  EXPECT_TRUE(run("kind: Crate\ndata:\n  a: |\n    # x\n    \"boxes\" :\n    - size: 1\n").known);
  EXPECT_FALSE(run("kind: Crate\ndata: {a: \"boxesful: []\"}\n").known);
  EXPECT_FALSE(run("kind: Crate\ndata:\n  a: |\n    other:\n      boxes: []\n").known);
  EXPECT_FALSE(run("kind: Crate\ndata: {}\n").known);
}

TEST(Document, TextsAreCheckedWithTheirPlaces) {
  const std::string head = "kind: Crate\ndata:\n  a: |\n    boxes:\n";
  EXPECT_EQ(run(head + "    - size: 0\n").codes, "GPU9005@data.a.boxes[0].size");
  EXPECT_EQ(run(head + "    - sice: 1\n").codes, "GPU0201@data.a.boxes[0].sice");
  EXPECT_EQ(run("kind: Crate\ndata: {a: \"boxes: []\", b: \"\"}\n").codes, "");
  // A text that is no YAML is said to be that, and nothing else.
  EXPECT_EQ(run(head + "    - [\n").codes.substr(0, 7), "GPU0102");
}

TEST(Document, PlacesInATextAreThoseOfItsFile) {
  Lab lab(files());
  diag::Sources& sources = lab.library->sources();
  const auto kinds = Kinds::compile(
      lab.platform, [](const std::string&) { return nullptr; }, true, sources, lab.sink);
  ASSERT_NE(kinds, nullptr) << lab.report();
  diag::Sink found;
  const yaml::Node document = lab.parse(
      "kind: Crate\ndata:\n  a: |\n    boxes:\n    - size: 0\n  b: \"boxes:\\n- size: "
      "0\\n\"\n");
  ASSERT_TRUE(kinds->check(document, {}, {sources, lab.library->arena(), found}));
  ASSERT_EQ(found.all().size(), 2U);
  EXPECT_TRUE(sources.place(found.all()[0].primary.at).ends_with(":5:13"))
      << sources.place(found.all()[0].primary.at);
  // What is quoted has lines of its own.
  EXPECT_TRUE(sources.place(found.all()[1].primary.at).ends_with("data.b:2:9"))
      << sources.place(found.all()[1].primary.at);
}

TEST(Document, RulesMayNeedTheCluster) {
  EXPECT_EQ(run("kind: Box\nsize: 3\n").codes, "");
  Context context;
  const yaml::Entry size{yaml::Node::view("size", diag::kNoOrigin), yaml::Node::integer(2)};
  yaml::Arena arena;
  context.cluster = arena.map(std::vector<yaml::Entry>{size});
  EXPECT_EQ(run("kind: Box\nsize: 3\n", context).codes, "GPU9006@size");
  EXPECT_EQ(run("kind: Box\nsize: 2\n", context).codes, "");
}

TEST(Document, RulesSeeTheOtherObjects) {
  yaml::Arena arena;
  const auto box = [&](std::int64_t size) {
    const yaml::Entry kind{yaml::Node::view("kind", diag::kNoOrigin), arena.string("Box")};
    const yaml::Entry much{yaml::Node::view("size", diag::kNoOrigin), yaml::Node::integer(size)};
    return arena.map(std::vector<yaml::Entry>{kind, much});
  };
  Context context;
  const yaml::Entry size{yaml::Node::view("size", diag::kNoOrigin), yaml::Node::integer(2)};
  context.cluster = arena.map(std::vector<yaml::Entry>{size});
  context.objects = objects_of({{box(9), "a"}, {arena.string("raw"), "b"}}, arena);
  EXPECT_EQ(run("kind: Box\nsize: 2\n", context).codes, "");
  context.objects = objects_of({{box(9), "a"}, {box(9), "b"}}, arena);
  EXPECT_EQ(run("kind: Box\nsize: 2\n", context).codes, "GPU9007@size");
}

TEST(Document, FaultyKnowledgeIsReported) {
  Files broken = files();
  broken["providers/lab/documents/more.yaml"] =
      wrap("DocumentRules", "  rules:\n    - {on: Bax, code: GPU9009}\n");
  EXPECT_NE(run("kind: Box\n", {}, broken).codes.find("GPU0402"), std::string::npos);
  broken = files();
  broken["providers/lab/documents/more.yaml"] =
      wrap("DocumentSchema", "  extends: Bax\n  schema: {type: object}\n", "Lost");
  EXPECT_NE(run("kind: Box\n", {}, broken).codes.find("GPU0402"), std::string::npos);
}

TEST(Secrets, AreHiddenWhateverTheFileIs) {
  diag::Sources sources;
  const std::string text =
      "a: 1\nPassword: top\n  secret\n- {user: x, \"password\": top}\npasswords: shown\n";
  const diag::FileId file = sources.add_file("x", text);
  secrets::hide_fields(file, {"password"}, sources);
  EXPECT_EQ(sources.without_hidden(file, 0, text),
            "a: 1\nPassword: ***\n  ******\n- {user: x, \"password\": ****\npasswords: shown\n");
}

TEST(Secrets, InKubernetesSecretsAreHidden) {
  diag::Sources sources;
  const auto shown = [&](const std::string& text) {
    const diag::FileId file = sources.add_file("x", text);
    secrets::hide_fields(file, {}, sources);
    return sources.without_hidden(file, 0, text);
  };
  EXPECT_EQ(shown("kind: Secret\ndata:\n  a: b\n"), "kind: Secret\ndata:\n  ****\n");
  EXPECT_EQ(shown("{\"kind\": \"Secret\", \"stringData\": {\"a\": \"b\"}}\n"),
            "{\"kind\": \"Secret\", \"stringData\": ***********\n");
  EXPECT_EQ(shown("kind: SecretStore\ndata: b\n"), "kind: SecretStore\ndata: b\n");
}

}  // namespace
}  // namespace gpuctl::document
