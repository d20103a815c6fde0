#include "render/overrides.hpp"

#include <gtest/gtest.h>

#include "support/knowledge.hpp"

namespace gpuctl::render {
namespace {

using testing::Lab;

// The examples of RFC 7386, appendix A.
TEST(MergePatch, FollowsTheExamples) {
  const std::vector<std::array<const char*, 3>> cases = {
      {"{a: b}", "{a: c}", "{\"a\":\"c\"}"},
      {"{a: b}", "{b: c}", "{\"a\":\"b\",\"b\":\"c\"}"},
      {"{a: b}", "{a: null}", "{}"},
      {"{a: b, b: c}", "{a: null}", "{\"b\":\"c\"}"},
      {"{a: [b]}", "{a: c}", "{\"a\":\"c\"}"},
      {"{a: c}", "{a: [b]}", "{\"a\":[\"b\"]}"},
      {"{a: {b: c}}", "{a: {b: d, c: null}}", "{\"a\":{\"b\":\"d\"}}"},
      {"{a: [{b: c}]}", "{a: [1]}", "{\"a\":[1]}"},
      {"[a, b]", "[c, d]", "[\"c\",\"d\"]"},
      {"{a: b}", "[c]", "[\"c\"]"},
      {"{a: foo}", "null", "null"},
      {"{e: null}", "{a: 1}", "{\"e\":null,\"a\":1}"},
      {"[1, 2]", "{a: b, c: null}", "{\"a\":\"b\"}"},
      {"{}", "{a: {bb: {ccc: null}}}", "{\"a\":{\"bb\":{}}}"},
  };
  for (const auto& [target, patch, expected] : cases) {
    Lab lab;
    const yaml::Node made =
        yaml::merge_patch(lab.parse(target), lab.parse(patch), lab.library->arena());
    EXPECT_EQ(yaml::emit_json(made), expected) << target << " + " << patch;
  }
}

// Beyond RFC 7386: what a text of a ConfigMap holds is patched, too.
TEST(MergePatch, GoesIntoTextsThatHoldMappings) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"c: |\n  # old\n  a: 1\n  b: [x]\n", "{c: {b: [z], d: {e: null}}}",
       R"({"c":"a: 1\nb:\n- z\nd: {}\n"})"},
      {"c: |\n  a: 1\n  b: 2\n", "{c: {a: null}}", R"({"c":"b: 2\n"})"},
      {"c: |\n  {\"a\":\n  1}\n", "{c: {b: 2}}", R"({"c":"{\"a\":1,\"b\":2}"})"},
      {"c: |\n  - a\n  - b\n", "{c: {b: 2}}", R"({"c":{"b":2}})"},
      {"c: |\n  some words\n  in lines\n", "{c: {b: 2}}", R"({"c":{"b":2}})"},
      {"c: 'a: 1'", "{c: {b: 2}}", R"({"c":{"b":2}})"},
  };
  for (const auto& [target, patch, expected] : cases) {
    Lab lab;
    const yaml::Node made =
        yaml::merge_patch(lab.parse(target), lab.parse(patch), lab.library->arena());
    EXPECT_EQ(yaml::emit_json(made), expected) << target << " + " << patch;
  }
}

std::string patched(const std::string& target, const std::string& operations) {
  Lab lab;
  yaml::PatchBudget budget;
  const auto made =
      json_patch(lab.parse(target), lab.parse(operations), lab.library->arena(), budget, lab.sink);
  return made ? yaml::emit_json(*made) : lab.codes();
}

// The examples of RFC 6902, appendix A, and the ways in which users get it wrong.
TEST(JsonPatch, FollowsTheExamples) {
  EXPECT_EQ(patched("{foo: bar}", "[{op: add, path: /baz, value: qux}]"),
            R"({"foo":"bar","baz":"qux"})");
  EXPECT_EQ(patched("{foo: [bar, baz]}", "[{op: add, path: /foo/1, value: qux}]"),
            R"({"foo":["bar","qux","baz"]})");
  EXPECT_EQ(patched("{baz: qux, foo: bar}", "[{op: remove, path: /baz}]"), R"({"foo":"bar"})");
  EXPECT_EQ(patched("{foo: [a, b, c]}", "[{op: remove, path: /foo/1}]"), R"({"foo":["a","c"]})");
  EXPECT_EQ(patched("{baz: qux}", "[{op: replace, path: /baz, value: boo}]"), R"({"baz":"boo"})");
  EXPECT_EQ(patched("{foo: {bar: baz, waldo: fred}, qux: {corge: grault}}",
                    "[{op: move, from: /foo/waldo, path: /qux/thud}]"),
            R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})");
  EXPECT_EQ(patched("{foo: [all, grass, cows, eat]}", "[{op: move, from: /foo/1, path: /foo/3}]"),
            R"({"foo":["all","cows","eat","grass"]})");
  EXPECT_EQ(patched("{foo: [1]}", "[{op: add, path: /foo/-, value: [a]}]"), R"({"foo":[1,["a"]]})");
  EXPECT_EQ(patched("{/: 9, ~1: 10}", "[{op: test, path: /~01, value: 10}]"), R"({"/":9,"~1":10})");
  EXPECT_EQ(patched("{a: {b: 1}}", "[{op: copy, from: /a, path: /c}]"),
            R"({"a":{"b":1},"c":{"b":1}})");
}

TEST(JsonPatch, ReportsWhatCannotBeApplied) {
  for (const char* operations :
       {"[{op: test, path: /foo, value: other}]", "[{op: add, path: /gone/x, value: 1}]",
        "[{op: remove, path: /gone}]", "[{op: replace, path: /gone, value: 1}]",
        "[{op: move, from: /gone, path: /x}]", "[{op: replase, path: /foo, value: 1}]",
        "[{op: add, path: foo, value: 1}]", "[{op: add, path: /foo}]", "[{path: /foo}]",
        "[{op: add, path: /~2, value: 1}]", "[{op: add, path: /list/9, value: 1}]", "text"}) {
    EXPECT_EQ(patched("{foo: bar, list: [1]}", operations), "GPU0422") << operations;
  }
}

TEST(JsonPatch, IsStoppedByWhatIsCounted) {
  std::string copies = "[";
  for (int i = 0; i < 20; ++i)
    copies += "{op: copy, from: \"\", path: /a" + std::to_string(i) + "},";
  EXPECT_EQ(patched("{text: " + std::string(100, 'x') + "}", copies + "]"), "GPU0431");
  std::string deeper = "[";
  for (int i = 0; i < 70; ++i) deeper += "{op: copy, from: /a, path: /a/b},";
  EXPECT_EQ(patched("{a: {}}", deeper + "]"), "GPU0431");
}

TEST(MergePatch, LeavesTheRestWhenTheBudgetIsUsedUp) {
  Lab lab;
  yaml::PatchBudget budget;
  budget.spend(yaml::kMostPatchSteps - 3);
  const yaml::Node made = yaml::merge_patch(
      lab.parse("{a: {b: 1}}"), lab.parse("{a: {b: 2}, c: 3}"), lab.library->arena(), &budget);
  EXPECT_TRUE(budget.exhausted());
  EXPECT_EQ(yaml::emit_json(made), "{\"a\":{\"b\":1}}");
}

struct Applied {
  std::vector<std::string> documents;
  std::string codes;
  std::string report;
};

Applied apply(const std::string& overrides) {
  Lab lab;
  std::vector<Document> documents(3);
  documents[0].body =
      lab.parse("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}");
  documents[1].body = lab.parse(
      "{apiVersion: example.com/v1, kind: Widget, metadata: {name: b-1, labels: {team: ml}}}");
  documents[1].pool = "gpu";
  documents[2].body = lab.parse("{apiVersion: v1, kind: Raw, metadata: {name: a}}");
  documents[2].raw = true;
  apply_overrides(lab.parse(overrides), documents, NoMatch::error, lab.library->arena(), lab.sink);
  Applied applied;
  for (const Document& document : documents) {
    applied.documents.push_back(yaml::emit_json(document.body.get("hit")));
  }
  applied.codes = lab.codes();
  applied.report = lab.report();
  return applied;
}

TEST(Overrides, MatchTheirTargets) {
  using Hits = std::vector<std::string>;
  const Hits first = {"1", "null", "null"};
  const Hits second = {"null", "1", "null"};
  const std::vector<std::pair<std::string, Hits>> cases = {
      {"{kind: ConfigMap}", first},
      {"{kind: Widget}", second},
      {"{name: b}", {}},
      {"{name: b-.*}", second},
      {"{group: example.com}", second},
      {"{group: \"\"}", first},
      {"{version: v1}", {"1", "1", "null"}},
      {"{pool: gpu}", second},
      {"{namespace: x}", first},
      {"{labelSelector: team=ml}", second},
      {"{labelSelector: team!=ml}", first},
      {"{labelSelector: \"team, !x\"}", {}},
      {"{labelSelector: team}", second},
      {"{kind: Raw}", {}},
      {"{}", {"1", "1", "null"}},
  };
  for (const auto& [target, hits] : cases) {
    const Applied applied = apply("[{target: " + target + ", patch: {hit: 1}}]");
    if (hits.empty()) {
      EXPECT_EQ(applied.codes, "GPU0421") << target;
    } else {
      EXPECT_EQ(applied.documents, hits) << target << applied.report;
    }
  }
}

TEST(Overrides, SuggestAKind) {
  EXPECT_NE(apply("[{target: {kind: Wigdet}, patch: {}}]").report.find("did you mean `Widget`?"),
            std::string::npos);
  EXPECT_EQ(apply("[{target: {name: \"(\"}, patch: {}}]").codes, "GPU0422");
}

}  // namespace
}  // namespace gpuctl::render
