#include "rule/rule.hpp"

#include <gtest/gtest.h>

#include "derive/environment.hpp"
#include "support/scope.hpp"

namespace gpuctl::rule {
namespace {

using testing::Files;
using testing::Lab;
using testing::lab;
using testing::scope_of;
using testing::wrap;

struct Made {
  std::string codes;
  std::string report;
};

// Writes down what it is told: "GPU2001 kept, ".
class Notes : public Observer {
 public:
  void saw(const Rule& rule, Verdict verdict) override {
    text += rule.code + (verdict == Verdict::kept     ? " kept, "
                         : verdict == Verdict::broken ? " broken, "
                                                      : " left out, ");
  }
  void saw_behind_gate(const Rule& rule) override { text += rule.code + " behind the gate, "; }
  std::string text;
};

// `gate` is a line of its own, or empty. Thorough: as the build and overlays do.
Made run(const std::string& rules, const std::string& spec, const std::string& facts = "{}",
         Observer* observer = nullptr, const std::string& gate = {}, bool thorough = true) {
  Files files = lab();
  files["providers/lab/derive.yaml"] = wrap("Derivation",
                                            "  rows:\n    - {set: pools, value: spec.pools}\n"
                                            "    - {set: \"pools[].cores\", value: \"index\"}\n");
  files["providers/lab/rules.yaml"] = wrap("Rules", gate + "  rules:\n" + rules);
  Lab lab(files);
  if (lab.platform != nullptr) {
    const auto compiled =
        rule::compile(*lab.platform, scope_of(lab), thorough, lab.library->sources(), lab.sink);
    const auto derivation =
        derive::compile(*lab.platform, scope_of(lab), true, lab.library->sources(), lab.sink);
    const auto blueprint = lab.blueprint(spec);
    if (compiled != nullptr && derivation != nullptr && blueprint) {
      const yaml::Node known = lab.parse(facts);
      const auto derived = derive::derive(*derivation, *blueprint, known, derive::Earlier(),
                                          {lab.library->sources(), lab.library->arena(), lab.sink});
      if (derived) {
        check(*compiled, *blueprint, *derived, known, "2025-12-01",
              {lab.library->sources(), lab.library->arena(), lab.sink}, observer);
      }
    }
  }
  return {lab.codes(), lab.report()};
}

constexpr const char* kSpec = "  pools:\n  - {name: x, type: small}\n  - {name: z, type: huge}\n";

TEST(Rule, PointsAtTheBlueprintValue) {
  const Made made = run(R"(    - code: GPU2001
      severity: error
      forEach: {pool: cluster.pools}
      check: pool.type in catalog.machines
      at: pool.type
      message: unknown machine type `${pool.type}`
      label: not in the table
      expected: one of ${catalog.machines.map(name, name).join(", ")}
      help: take `large`
      source: the test
)",
                        kSpec);
  EXPECT_EQ(made.codes, "GPU2001") << made.report;
  EXPECT_EQ(made.report,
            "error[GPU2001]: unknown machine type `huge`\n"
            " --> blueprint.yaml:8:21\n"
            "  |\n"
            "8 |   - {name: z, type: huge}\n"
            "  |                     ^^^^ not in the table\n"
            "  = expected: one of small, large\n"
            "  = note: source: the test\n"
            "help: take `large`\n");
}

TEST(Rule, ReadsVariables) {
  for (const bool thorough : {true, false}) {
    for (const std::string gate : {"", "  gate: size(spec.pools) == 2\n"}) {
      const std::string shared =
          gate + "  variables: {known: 'catalog.machines.map(name, name)'}\n";
      const Made made = run(R"x(    - code: GPU2001
      severity: error
      forEach: {pool: cluster.pools, name: "known.filter(name, name != pool.name)"}
      variables: {type: pool.type, other: 'type + "/" + name', unread: facts.infraID}
      when: type == "huge"
      check: other != "huge/large"
      at: type
      message: ${other} of ${string(size(known))}
)x",
                            kSpec, "{}", nullptr, shared, thorough);
      EXPECT_EQ(made.report,
                "error[GPU2001]: huge/large of 2\n"
                " --> blueprint.yaml:8:21\n"
                "  |\n"
                "8 |   - {name: z, type: huge}\n"
                "  |                     ^^^^\n")
          << gate;
    }
  }
}

TEST(Rule, KeepsApartLoopsOfFilesThatReadTheSame) {
  // `all` is a list of texts in one file and of maps in the other.
  const auto file = [](const std::string& code, const std::string& all, const std::string& name) {
    return wrap("Rules", "  variables: {all: '" + all + "'}\n  rules:\n    - code: " + code + "\n" +
                             "      severity: error\n      forEach: {one: all}\n" +
                             "      check: 'false'\n      at: metadata.name\n" +
                             "      message: saw ${" + name + "}\n");
  };
  Files files = lab();
  files["providers/lab/rules/first.yaml"] =
      file("GPU2001", "spec.pools.map(pool, pool.name)", "one");
  files["providers/lab/rules/second.yaml"] = file("GPU2002", "spec.pools", "one.name");
  Lab lab(files);
  for (const bool thorough : {true, false}) {
    const auto compiled =
        rule::compile(*lab.platform, scope_of(lab), thorough, lab.library->sources(), lab.sink);
    const auto blueprint = lab.blueprint("  pools:\n  - {name: x, type: small}\n");
    ASSERT_TRUE(compiled != nullptr && blueprint) << lab.report();
    check(*compiled, *blueprint, derive::Derived(), yaml::Node(), "2025-12-01",
          {lab.library->sources(), lab.library->arena(), lab.sink});
  }
  EXPECT_EQ(lab.codes(), "GPU2001 GPU2002 GPU2001 GPU2002") << lab.report();
}

TEST(Rule, RefusesAVariableThatHidesAnother) {
  for (const char* names : {"forEach: {spec: cluster.pools}", "variables: {today: '1'}",
                            "forEach: {pool: cluster.pools}\n      variables: {pool: '1'}"}) {
    const Made made =
        run("    - code: GPU2001\n      severity: error\n      " + std::string(names) +
                "\n      check: 'true'\n      at: metadata.name\n      message: x\n",
            kSpec);
    EXPECT_EQ(made.codes, "GPU0302") << names;
  }
}

TEST(Rule, TellsTheObserverOfEveryVerdict) {
  Notes notes;
  const Made made = run(R"x(    - code: GPU2001
      severity: error
      forEach: {pool: cluster.pools}
      when: pool.name != "w"
      check: pool.type in catalog.machines
      at: pool.type
      message: unknown
    - {code: GPU2002, severity: note, at: pool, message: none,
       forEach: {pool: "cluster.pools.filter(pool, false)"}, check: "true"}
    - {code: GPU2003, severity: note, at: metadata.name, message: no name yet,
       check: "facts.infraID != 'x'"}
)x",
                        "  pools:\n  - {name: x, type: small}\n  - {name: w, type: huge}\n"
                        "  - {name: z, type: huge}\n",
                        "{}", &notes);
  EXPECT_EQ(notes.text, "GPU2001 kept, GPU2001 left out, GPU2001 broken, GPU2002 left out, ");
  EXPECT_EQ(made.codes, "GPU2001") << made.report;
}

constexpr const char* kHugePool = R"(    - code: GPU2001
      severity: error
      forEach: {pool: cluster.pools}
      check: pool.type != "huge"
      at: pool.type
      message: huge
)";

TEST(Rule, BehindAClosedGateSaysNothing) {
  for (const bool thorough : {true, false}) {
    const auto codes = [&](const std::string& gate) {
      return run(kHugePool, kSpec, "{}", nullptr, gate, thorough).codes;
    };
    EXPECT_EQ(codes("  gate: size(spec.pools) == 2\n"), "GPU2001");
    EXPECT_EQ(codes("  gate: size(spec.pools) == 3\n"), "");
    // What cannot be said is no reason to say nothing.
    EXPECT_EQ(codes("  gate: facts.infraID == 'x'\n"), "GPU2001");
  }
}

TEST(Rule, BehindAClosedGateIsShownToAnObserver) {
  Notes notes;
  const Made made = run(kHugePool, kSpec, "{}", &notes, "  gate: size(spec.pools) == 3\n");
  EXPECT_EQ(notes.text, "GPU2001 kept, GPU2001 broken, GPU2001 behind the gate, ");
  EXPECT_EQ(made.codes, "") << made.report;
}

TEST(Rule, AGateMustBeACondition) {
  EXPECT_EQ(run(kHugePool, kSpec, "{}", nullptr, "  gate: size(spec.pools)\n").codes, "GPU0408");
  EXPECT_EQ(run(kHugePool, kSpec, "{}", nullptr, "  gate: size(spec.pool) == 1\n").codes,
            "GPU0302");
}

TEST(Rule, FallsBackToTheItemWhenTheValueWasComputed) {
  const Made made = run(R"(    - code: GPU2001
      severity: warning
      forEach: {pool: cluster.pools}
      when: pool.name == "z"
      check: pool.cores == 0
      at: pool.cores
      message: cores
)",
                        kSpec);
  EXPECT_NE(made.report.find("warning[GPU2001]: cores\n --> blueprint.yaml:8:"), std::string::npos)
      << made.report;
}

TEST(Rule, FallsBackToTheNameOfTheCluster) {
  const Made made = run(
      "    - {code: GPU2001, severity: note, check: \"false\", at: \"1\", message: always}\n", "");
  EXPECT_NE(made.report.find("blueprint.yaml:3:18"), std::string::npos) << made.report;
}

TEST(Rule, NestsLoops) {
  const Made made = run(R"x(    - code: GPU2001
      severity: error
      forEach: {a: cluster.pools, b: "cluster.pools.filter(p, p.name > a.name)"}
      check: a.type == b.type
      at: b.type
      message: ${a.name} and ${b.name} differ
)x",
                        kSpec);
  EXPECT_NE(made.report.find("x and z differ"), std::string::npos) << made.report;
  EXPECT_EQ(made.codes, "GPU2001");
}

TEST(Rule, IsSkippedWithoutItsFact) {
  const std::string rule =
      "    - {code: GPU2001, severity: error, check: 'facts.infraID.startsWith(\"one\")', at: "
      "metadata.name, message: prefix}\n";
  EXPECT_EQ(run(rule, "").codes, "");
  EXPECT_EQ(run(rule, "", "{infraID: two-x}").codes, "GPU2001");
  EXPECT_EQ(run(rule, "", "{infraID: one-x}").codes, "");
}

TEST(Rule, ReportsFaultsOfTheRuleItself) {
  const std::string twice =
      "    - {code: GPU2001, severity: error, check: \"true\", at: \"1\", message: m}\n";
  EXPECT_EQ(run(twice + twice, "").codes, "GPU0408");
  EXPECT_EQ(
      run("    - {code: GPU2001, severity: error, check: spec.sise, at: \"1\", message: m}\n", "")
          .codes,
      "GPU0302");
}

}  // namespace
}  // namespace gpuctl::rule
