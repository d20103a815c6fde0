#include "imports/mapping.hpp"

#include <gtest/gtest.h>

#include "imports/pairs.hpp"
#include "imports/tidy.hpp"
#include "support/knowledge.hpp"

namespace gpuctl::imports {
namespace {

using testing::Files;
using testing::Lab;
using testing::lab;
using testing::wrap;

Files with_import(const std::string& spec) {
  Files out = lab();
  out["providers/lab/import.yaml"] = wrap("Import", spec);
  return out;
}

struct Proposed {
  std::string blueprint;
  std::string facts;
  std::string assumed;
  std::string report;
};

Proposed propose(const std::string& spec, const std::string& documents) {
  Lab lab(with_import(spec));
  Proposed out;
  const auto mapping = Mapping::compile(*lab.platform, *lab.library, true, lab.sink);
  out.report = lab.report();
  if (mapping == nullptr) return out;
  const Proposal made = mapping->propose(lab.parse(documents), "1.2", lab.library->arena());
  out.blueprint = yaml::emit_json(made.blueprint);
  out.facts = yaml::emit_json(made.facts);
  for (const Assumption& assumption : made.assumptions) {
    out.assumed += assumption.path + ": " + assumption.because + ";";
  }
  return out;
}

TEST(Mapping, MakesBlueprintAndFacts) {
  const Proposed made = propose(R"(
  find:
    - {set: boxes, value: 'documents.filter(document, document.kind == "Box")'}
  rows:
    - {set: metadata.name, value: 'found.boxes[0].name'}
    - {set: spec.pools, value: 'found.boxes.map(box, {"name": box.name})'}
    - {set: 'spec.pools[].type', value: 'found.boxes[index].type'}
    - {set: spec.stage, value: release}
    - {set: facts.infraID, value: 'found.boxes[0].id'}
)",
                                "[{kind: Box, name: a, type: big, id: x}, {kind: Bag}, "
                                "{kind: Box, name: b}]\n");
  EXPECT_EQ(made.blueprint,
            R"({"apiVersion":"gpuctl.dev/v1alpha1","kind":"Blueprint","metadata":{"name":"a"},)"
            R"("spec":{"platform":"lab","pools":[{"name":"a","type":"big"},{"name":"b"}],)"
            R"("stage":"1.2"}})")
      << made.report;
  EXPECT_EQ(made.facts, R"({"infraID":"x"})");
  EXPECT_EQ(made.assumed, "");
}

TEST(Mapping, ReadsVariables) {
  const Proposed made = propose(R"(
  variables:
    boxes: 'documents.filter(document, document.kind == "Box")'
    names: found.names
  find:
    - {set: names, value: 'boxes.map(box, box.name)'}
  rows:
    - {set: metadata.name, value: 'names[0]'}
    - {set: spec.pools, value: 'names.map(name, {"name": name})'}
    - {set: 'spec.pools[].type', variables: {box: 'boxes[index]', type: box.type}, value: type}
    - {set: spec.stage, value: 'boxes[0].?stage'}
    - {set: spec.size, value: 'boxes[0].?size'}
)",
                                "[{kind: Box, name: a, type: big, stage: s}, {kind: Bag}, "
                                "{kind: Box, name: b}]\n");
  EXPECT_EQ(made.blueprint,
            R"({"apiVersion":"gpuctl.dev/v1alpha1","kind":"Blueprint","metadata":{"name":"a"},)"
            R"("spec":{"platform":"lab","pools":[{"name":"a","type":"big"},{"name":"b"}],)"
            R"("stage":"s"}})")
      << made.report;
}

TEST(Mapping, TellsWhatItAssumed) {
  const Proposed made = propose(R"(
  rows:
    - {set: metadata.name, value: 'documents[0].name'}
    - {set: metadata.name, when: '!has(found.metadata)', value: '"one"', assumed: 'no name in ${string(size(documents))}'}
    - {set: spec.size, when: '!has(found.metadata)', value: '3', assumed: never}
)",
                                "[{kind: Box}]\n");
  EXPECT_NE(made.blueprint.find(R"("metadata":{"name":"one"})"), std::string::npos) << made.report;
  EXPECT_EQ(made.assumed, "metadata.name: no name in 1;");
}

TEST(Mapping, RefusesFaultyRows) {
  const auto codes = [](const std::string& spec) {
    Lab lab(with_import(spec));
    EXPECT_EQ(Mapping::compile(*lab.platform, *lab.library, true, lab.sink), nullptr);
    return lab.codes();
  };
  EXPECT_EQ(codes("  rows:\n    - {set: 'a[]', value: '1'}\n"), "GPU0406");
  EXPECT_EQ(codes("  rows:\n    - {set: spec.colour, value: '1'}\n"), "GPU0407");
  EXPECT_EQ(codes("  rows:\n    - {set: facts.colour, value: '1'}\n"), "GPU0407");
  EXPECT_EQ(codes("  rows:\n    - {set: a, value: nobody}\n"), "GPU0302");
  EXPECT_EQ(codes("  rows:\n    - {set: a, value: item}\n"), "GPU0302");
  EXPECT_EQ(codes("  ignore:\n    - {when: 'true', path: 'a[', because: b}\n"), "GPU0406");
}

TEST(Mapping, LeavesOutWhatARowSays) {
  Lab lab(with_import(R"(
  find:
    - {set: kept, value: '"b"'}
  leave:
    - {when: 'document.name == found.kept', because: 'kept ${document.name}'}
    - {when: 'document.name == "c"', because: gone, lost: true}
)"));
  const auto mapping = Mapping::compile(*lab.platform, *lab.library, true, lab.sink);
  ASSERT_NE(mapping, nullptr) << lab.report();
  yaml::Arena& arena = lab.library->arena();
  const Proposal made = mapping->propose(lab.parse("[]\n"), "", arena);
  EXPECT_FALSE(mapping->left_out(lab.parse("name: a\n"), made, arena));
  EXPECT_FALSE(mapping->left_out(lab.parse("other: a\n"), made, arena));
  const auto kept = mapping->left_out(lab.parse("name: b\n"), made, arena);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->because, "kept b");
  EXPECT_FALSE(kept->lost);
  EXPECT_TRUE(mapping->left_out(lab.parse("name: c\n"), made, arena)->lost);
}

TEST(Tidy, DropsDefaultsAndOrdersKeys) {
  Lab lab;
  yaml::Arena& arena = lab.library->arena();
  const yaml::Node tree = lab.parse(
      "spec: {pools: [{type: t, name: nn}], size: 2, stage: test, platform: lab}\n"
      "metadata: {name: x}\n");
  EXPECT_EQ(yaml::emit_json(without_defaults(*lab.platform->blueprint, tree, arena)),
            R"({"metadata":{"name":"x"},"spec":{"platform":"lab","stage":"test",)"
            R"("pools":[{"name":"nn","type":"t"}]}})");
}

TEST(Tidy, RemovesByPath) {
  Lab lab;
  yaml::Arena& arena = lab.library->arena();
  const yaml::Node tree = lab.parse("a: {b: [{name: x, c: 1}, {name: yy, c: 2}]}\n");
  EXPECT_EQ(yaml::emit_json(without(tree, "a.b[1].c", arena)),
            R"({"a":{"b":[{"name":"x","c":1},{"name":"yy"}]}})");
  EXPECT_EQ(yaml::emit_json(without(tree, "a.b[x]", arena)),
            R"({"a":{"b":[{"name":"yy","c":2}]}})");
  EXPECT_EQ(yaml::emit_json(without(tree, "a.c", arena)), yaml::emit_json(tree));
  EXPECT_EQ(yaml::emit_json(without_field(tree, "a.b.c", arena)),
            R"({"a":{"b":[{"name":"x"},{"name":"yy"}]}})");
}

Object object(Lab& lab, const std::string& text) {
  Object out;
  out.written = out.whole = lab.parse(text);
  out.kind = schema::KindRef::of(out.written);
  out.name = out.written.get({"metadata", "name"}).as_string();
  return out;
}

Made made(Lab& lab, const std::string& text) {
  const Object same = object(lab, text);
  return {same.kind, same.name, same.written};
}

TEST(Pairs, GoByNameThenByLikeness) {
  Lab lab;
  const std::string head = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: ";
  const std::vector<Object> objects = {
      object(lab, head + "mine}\nspec: {a: 1, b: 2, c: 3, d: 4}\n"),
      object(lab, head + "two}\nspec: {a: 1, b: 2, c: 3, d: 5}\n"),
      object(lab, head + "odd}\nother: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"),
      object(lab, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b, c: d}\n")};
  const std::vector<Made> documents = {
      made(lab, head + "one}\nspec: {a: 1, b: 2, c: 3, d: 4}\n"),
      made(lab, head + "two}\nspec: {a: 1, b: 2, c: 3, d: 4}\n"),
      made(lab, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yy}\ndata: {a: b, c: d}\n")};
  const std::vector<Pair> pairs = pair_up(objects, documents, [](std::size_t) { return false; });
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].object, 0U);
  EXPECT_EQ(pairs[0].made, 0U);
  EXPECT_EQ(pairs[1].object, 1U);
  EXPECT_EQ(pairs[1].made, 1U);
}

TEST(Pairs, LeaveTwinsAlone) {
  Lab lab;
  const std::string head = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: ";
  std::vector<Object> objects = {object(lab, head + "a}\nspec: {b: 9}\n"),
                                 object(lab, head + "a}\nspec: {b: 2, c: 3}\n"),
                                 object(lab, head + "b}\nspec: {b: 2, c: 3}\n"),
                                 object(lab, head + "a}\nspec: {b: 2, c: 4}\n")};
  find_twins(objects);
  EXPECT_EQ(objects[0].twin, 1U);
  EXPECT_EQ(objects[1].twin, std::nullopt);
  EXPECT_EQ(objects[2].twin, std::nullopt);
  EXPECT_EQ(objects[3].twin, 1U);
  const std::vector<Made> documents = {made(lab, head + "a}\nspec: {b: 2, c: 3}\n"),
                                       made(lab, head + "z}\nspec: {b: 9}\n")};
  const std::vector<Pair> pairs = pair_up(objects, documents, [](std::size_t) { return false; });
  ASSERT_FALSE(pairs.empty());
  EXPECT_EQ(pairs[0].object, 1U);
  for (const Pair& pair : pairs) EXPECT_FALSE(objects[pair.object].twin);
}

TEST(Pairs, AskForTheSameIdentity) {
  Lab lab;
  const std::string head = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: ";
  const std::vector<Object> objects = {object(lab, head + "a}\nspec: {is: x, b: 2, c: 3}\n")};
  std::vector<Made> documents = {made(lab, head + "b}\nspec: {is: z, b: 2, c: 3}\n"),
                                 made(lab, head + "c}\nspec: {is: x, b: 3, c: 3}\n")};
  for (Made& document : documents) document.identity = "spec.is";
  const std::vector<Pair> pairs = pair_up(objects, documents, [](std::size_t) { return false; });
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].made, 1U);
}

}  // namespace
}  // namespace gpuctl::imports
