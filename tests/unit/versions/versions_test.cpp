#include "versions/versions.hpp"

#include <gtest/gtest.h>

#include "derive/derive.hpp"
#include "derive/environment.hpp"
#include "support/scope.hpp"

namespace gpuctl::versions {
namespace {

using testing::Files;
using testing::Lab;
using testing::lab;
using testing::scope_of;
using testing::wrap;

struct Made {
  std::string cluster;  // as JSON; empty after errors
  std::string choices;  // "path=value because, "; `*` before a kept one
  std::string codes;
  std::string report;
};

// A base that is always given, and a tool that the blueprint may name: tool 3 wants base 2 or 3,
// tool 2 any base, and tool 1 is not supported.
constexpr const char* kAxes = R"(  axes:
    - {name: base, title: base, field: spec.size, pin: string(spec.size), values: '["3", "2", "1"]'}
    - name: tool
      title: tool
      field: spec.pools[0].type
      named: spec.pools[].type
      keep: tool.release
      values: '["3", "2", "1"]'
      because: the newest for base ${string(spec.size)}
)";
constexpr const char* kRules = R"(  rules:
    - code: GPU2001
      severity: error
      between: [base, tool]
      when: cluster.versions.tool == "3"
      check: cluster.versions.base != "1"
      at: spec.size
      message: tool ${cluster.versions.tool} wants a newer base
      source: the table
    - code: GPU2002
      severity: warning
      between: [tool]
      check: cluster.versions.tool != "1"
      at: spec.size
      message: tool 1 gets no fixes
    - code: GPU2003
      severity: error
      between: [tool]
      when: has(cluster.versions.before.tool)
      check: int(cluster.versions.tool) <= int(cluster.versions.before.tool) + 1
      at: spec.size
      message: from ${cluster.versions.before.tool} to ${cluster.versions.tool} is too far
)";

Made run(const std::string& spec, const std::string& kept = "null",
         const std::vector<std::string>& again = {}, const std::string& axes = kAxes,
         const std::string& rules = kRules) {
  Files files = lab();
  files["providers/lab/versions.yaml"] = wrap("Versions", axes);
  files["providers/lab/rules.yaml"] = wrap("Rules", rules);
  files["providers/lab/derive.yaml"] =
      wrap("Derivation", "  rows:\n    - {set: versions, choose: true}\n");
  files["providers/lab/derived.yaml"] = wrap("Schema", R"(  fields:
    tool: {type: object, properties: {release: {type: string}}}
    versions:
      type: object
      properties:
        base: {type: string}
        tool: {type: string}
        before: {type: object, properties: {tool: {type: string}}}
)");
  Lab lab(files);
  Made made;
  if (lab.platform != nullptr) {
    diag::Sources& sources = lab.library->sources();
    const derive::Scope scope = scope_of(lab);
    const auto environment = derive::base_environment(*lab.platform);
    const auto compiled = rule::compile(*lab.platform, scope, true, sources, lab.sink);
    const auto chooser = compile(*lab.platform, environment, compiled, true, sources, lab.sink);
    const auto derivation = derive::compile(*lab.platform, scope, true, sources, lab.sink, chooser);
    const auto blueprint = lab.blueprint(spec);
    if (chooser != nullptr && derivation != nullptr && blueprint) {
      derive::Earlier earlier(lab.parse(kept));
      earlier.again = again;
      const yaml::Node facts = lab.parse("{}");
      const auto derived = derive::derive(*derivation, *blueprint, facts, earlier,
                                          {sources, lab.library->arena(), lab.sink});
      if (derived) {
        made.cluster = yaml::emit_json(derived->cluster);
        for (const derive::Choice& choice : derived->choices) {
          made.choices += (choice.kept ? "*" : "") + choice.path + "=" +
                          std::string(choice.value.as_string()) + " " + choice.because;
        }
        rule::check(*compiled, *blueprint, *derived, facts, "2026-01-01",
                    {sources, lab.library->arena(), lab.sink});
      }
    }
  }
  made.codes = lab.codes();
  made.report = lab.report();
  return made;
}

TEST(Versions, ChoosesTheNewestThatGoesWithTheRest) {
  EXPECT_EQ(run("  size: 2\n").choices, "tool.release=3 the newest for base 2");
  const Made old = run("  size: 1\n");
  EXPECT_EQ(old.choices, "tool.release=2 the newest for base 1");
  EXPECT_EQ(old.cluster, R"({"versions":{"base":"1","tool":"2","before":{}}})") << old.report;
  EXPECT_EQ(old.codes, "");
}

TEST(Versions, KeepsWhatAnEarlierRunChose) {
  const Made kept = run("  size: 2\n", "{tool.release: \"2\"}");
  EXPECT_EQ(kept.choices, "*tool.release=2 kept from an earlier run; today it would be 3");
  // Its support has ended, and it still goes with the rest.
  EXPECT_EQ(run("  size: 2\n", "{tool.release: \"1\"}").codes, "GPU2002");
}

TEST(Versions, RefusesAKeptChoiceThatNoLongerGoes) {
  const Made made = run("  size: 1\n", "{tool.release: \"3\"}");
  EXPECT_EQ(made.codes, "GPU0603");
  EXPECT_NE(made.report.find("it does not go with base 1"), std::string::npos) << made.report;
  EXPECT_NE(made.report.find("gpuctl upgrade --only tool.release"), std::string::npos);
}

TEST(Versions, ChoosesAgainWhenTold) {
  EXPECT_EQ(run("  size: 2\n", "{tool.release: \"2\"}", {"tool"}).choices,
            "tool.release=3 the newest for base 2");
  // One step at a time: what was there before is known to the rules.
  EXPECT_EQ(run("  size: 2\n", "{tool.release: \"1\"}", {""}).choices,
            "tool.release=2 the newest for base 2");
}

TEST(Versions, NamesPinsInConflictAndTheNearestWayOut) {
  const Made made = run("  size: 1\n  pools: [{name: a, type: \"3\"}]\n");
  EXPECT_EQ(made.codes, "GPU2001");
  EXPECT_NE(
      made.report.find("do not go together: base 1 (`spec.size`), tool 3 (`spec.pools[].type`)"),
      std::string::npos)
      << made.report;
  EXPECT_NE(made.report.find("base 2 instead of 1 goes with the rest"), std::string::npos);
  EXPECT_NE(made.report.find("tool 2 instead of 3 goes with the rest"), std::string::npos);
}

TEST(Versions, KeepsWhatABlueprintPinned) {
  EXPECT_EQ(run("  size: 2\n  pools: [{name: a, type: \"2\"}]\n").choices,
            "tool.release=2 the blueprint");
  // A value that the axis does not know is taken as it is.
  EXPECT_EQ(run("  size: 2\n  pools: [{name: a, type: \"9\"}]\n").choices,
            "tool.release=9 the blueprint");
}

TEST(Versions, RefusesRulesBetweenOthers) {
  // A rule between versions that nobody declares.
  EXPECT_NE(run("", "null", {}, "  axes: []\n").codes.find("GPU0409"), std::string::npos);
}

}  // namespace
}  // namespace gpuctl::versions
