#include "derive/derive.hpp"

#include "derive/environment.hpp"

#include <gtest/gtest.h>

#include "support/scope.hpp"

namespace gpuctl::derive {
namespace {

using testing::Files;
using testing::Lab;
using testing::lab;
using testing::scope_of;
using testing::wrap;

struct Made {
  std::string cluster;  // as JSON; empty after errors
  std::vector<Choice> choices;
  std::string shown;  // "path: because" of each
  std::string codes;
  std::string report;
};

Made run(const Files& files, const std::string& spec, const std::string& kept = "null",
         const std::string& facts = "{}") {
  Lab lab(files);
  Made made;
  if (lab.platform != nullptr) {
    const auto derivation =
        compile(*lab.platform, scope_of(lab), true, lab.library->sources(), lab.sink);
    const auto blueprint = lab.blueprint(spec);
    if (derivation != nullptr && blueprint) {
      const auto derived =
          derive(*derivation, *blueprint, lab.parse(facts), Earlier(lab.parse(kept)),
                 {lab.library->sources(), lab.library->arena(), lab.sink});
      if (derived) {
        made.cluster = yaml::emit_json(derived->cluster);
        for (const Choice& choice : derived->choices) {
          // Detach from the arena, which ends here.
          made.choices.push_back({choice.path, yaml::Node(), choice.because, choice.kept});
        }
        for (const Choice& shown : derived->shown) made.shown += shown.path + ": " + shown.because;
      }
    }
  }
  made.codes = lab.codes();
  made.report = lab.report();
  return made;
}

Made run(const std::string& rows, const std::string& spec, const std::string& kept = "null",
         const std::string& facts = "{}") {
  Files files = lab();
  files["providers/lab/derive.yaml"] = wrap("Derivation", "  rows:\n" + rows);
  return run(files, spec, kept, facts);
}

TEST(Derive, SetsPathsInOrder) {
  const Made made = run(R"(    - {set: name, value: metadata.name}
    - {set: deep.inner.flag, value: "spec.size > 1"}
    - {set: size, value: spec.size}
    - {set: size, value: cluster.size + 1}
)",
                        "  size: 5\n");
  EXPECT_EQ(made.cluster, R"({"name":"one","deep":{"inner":{"flag":true}},"size":6})")
      << made.report;
}

TEST(Derive, RunsOnceForEachItem) {
  const Made made = run(R"(    - {set: pools, value: spec.pools}
    - set: pools[].cores
      value: catalog.machines[item.type].cores
      when: has(item.type)
    - set: pools[].zones
      value: '["a", "b"].map(z, {"name": z + string(index)})'
    - {set: "pools[].zones[].replicas", value: "index * 10"}
)",
                        "  pools: [{name: x, type: large}, {name: w}]\n");
  EXPECT_EQ(
      made.cluster,
      R"({"pools":[{"name":"x","type":"large","cores":16,"zones":[{"name":"a0","replicas":0},)"
      R"({"name":"b0","replicas":10}]},{"name":"w","zones":[{"name":"a1","replicas":0},)"
      R"({"name":"b1","replicas":10}]}]})")
      << made.report;
}

TEST(Derive, HistoryGoesOnFromTheLastRun) {
  const std::string rows =
      "    - {set: pools, history: true, value: 'before + [{\"name\": metadata.name}]'}\n";
  const Made first = run(rows, "");
  EXPECT_EQ(first.cluster, R"({"pools":[{"name":"one"}]})") << first.report;
  ASSERT_EQ(first.choices.size(), 1U);
  EXPECT_EQ(first.choices[0].path, "pools");
  EXPECT_FALSE(first.choices[0].kept);
  EXPECT_EQ(run(rows, "", R"({"pools": [{"name": a}]})").cluster,
            R"({"pools":[{"name":"a"},{"name":"one"}]})");
  // What does not change is kept, and what a lock cannot have is refused.
  const Made same =
      run("    - {set: pools, history: true, value: before}\n", "", R"({"pools": [{"name": a}]})");
  ASSERT_EQ(same.choices.size(), 1U) << same.report;
  EXPECT_TRUE(same.choices[0].kept);
  EXPECT_EQ(run(rows, "", "{pools: many}").codes, "GPU0684");
}

TEST(Derive, OmitSetsNothing) {
  EXPECT_EQ(run("    - {set: name, value: omit()}\n", "").cluster, "{}");
  EXPECT_EQ(run("    - {set: deep.inner.flag, value: omit()}\n", "").cluster, "{}");
}

TEST(Derive, CopiesWhatIsThere) {
  const Made made = run(R"x(    - {set: size, copy: spec.size}
    - {set: channel, copy: facts.infraID}
    - {set: pools, copy: spec.pools}
    - {set: "pools[].type", copy: "spec.pools[index].type"}
    - {set: deep.inner.flag, value: "spec.pools[0].?type.optMap(type, true)"}
    - {set: name, value: "metadata.?name"}
)x",
                        "  pools: [{name: x}]\n");
  EXPECT_EQ(made.cluster, R"({"size":2,"pools":[{"name":"x"}],"name":"one"})") << made.report;
}

TEST(Derive, ReadsVariables) {
  Files files = lab();
  files["providers/lab/variables.yaml"] =
      wrap("Variables", "  variables: {sum: 'cluster.size + 1', unread: facts.infraID}\n");
  files["providers/lab/derive.yaml"] = wrap("Derivation", R"(  rows:
    - {set: size, copy: spec.size}
    - {set: size, value: sum}
    - {set: size, value: sum, because: "then ${string(sum)}"}
    - {set: pools, copy: spec.pools}
    - set: pools[].cores
      variables: {row: "catalog.machines[item.type]", cores: row.cores + index}
      when: has(item.type)
      value: cores
)");
  const Made made =
      run(files, "  pools: [{name: x, type: large}, {name: w}, {name: z, type: large}]\n");
  EXPECT_EQ(made.cluster,
            R"({"size":4,"pools":[{"name":"x","type":"large","cores":16},{"name":"w"},)"
            R"({"name":"z","type":"large","cores":18}]})")
      << made.report;
}

TEST(Derive, TakesRowsThatAreYaml) {
  const Made made = run(R"x(    - {set: size, copy: spec.size}
    - set: pools
      template:
        - {name: first, type: "${omit()}", cores: "${cluster.size + 1}"}
        - $forEach: {pool: "${spec.pools}"}
          $if: ${pool.name != "w"}
          $merge: [{cores: 1}, "${pool}"]
    - set: pools[].zones
      variables: {zone: 'item.name + string(index)'}
      when: has(item.type)
      template: [{name: "${zone}", replicas: 3}]
    - {set: name, template: "${spec.pools[1].?type}"}
    - {set: deep.inner, template: {$if: "${cluster.size > 9}", flag: true}}
)x",
                        "  pools: [{name: x, type: large}, {name: w}]\n");
  EXPECT_EQ(made.cluster,
            R"({"size":2,"pools":[{"name":"first","cores":3},{"cores":1,"name":"x","type":"large",)"
            R"("zones":[{"name":"x1","replicas":3}]}]})")
      << made.report;
}

TEST(Derive, RefusesFaultyYamlRows) {
  const auto codes = [](const std::string& body) {
    return run("    - {set: deep.inner, template: " + body + "}\n", "").codes;
  };
  EXPECT_EQ(codes("{flag: '${spec.pools[0].name}'}"), "GPU0303");
  EXPECT_EQ(codes("{flag: '${cluster.deep.iner}'}"), "GPU0302");
  EXPECT_EQ(codes("{$merg: [], flag: true}"), "GPU0411");
  EXPECT_EQ(codes("{flag: {$secret: '${spec}'}}"), "GPU0406");
  EXPECT_EQ(codes("{flag: 7}"), "GPU0202");
}

TEST(Derive, KeepsAChoiceWhileItIsValid) {
  const std::string rows = R"(    - set: channel
      value: '"new"'
      keep: true
      valid: value in ["old", "new"]
      because: newest for size ${string(spec.size)}
)";
  const Made fresh = run(rows, "");
  EXPECT_EQ(fresh.cluster, R"({"channel":"new"})") << fresh.report;
  ASSERT_EQ(fresh.choices.size(), 1U);
  EXPECT_EQ(fresh.choices[0].path, "channel");
  EXPECT_EQ(fresh.choices[0].because, "newest for size 2");
  EXPECT_FALSE(fresh.choices[0].kept);

  const Made kept = run(rows, "", "{channel: old}");
  EXPECT_EQ(kept.cluster, R"({"channel":"old"})");
  ASSERT_EQ(kept.choices.size(), 1U);
  EXPECT_TRUE(kept.choices[0].kept);

  const Made invalid = run(rows, "", "{channel: gone}");
  EXPECT_EQ(invalid.cluster, "");
  EXPECT_EQ(invalid.codes, "GPU0603") << invalid.report;
}

TEST(Derive, FilesChoicesOfItemsByName) {
  const std::string rows = R"(    - {set: pools, value: spec.pools}
    - {set: "pools[].cores", value: "index", keep: true}
)";
  const Made made = run(rows, "  pools: [{name: x}, {name: w}]\n", "{\"pools[w].cores\": 7}");
  EXPECT_EQ(made.cluster, R"({"pools":[{"name":"x","cores":0},{"name":"w","cores":7}]})");
  ASSERT_EQ(made.choices.size(), 2U);
  EXPECT_EQ(made.choices[0].path, "pools[x].cores");
  EXPECT_EQ(made.choices[1].path, "pools[w].cores");
}

TEST(Derive, ShowsWhatIsAskedFor) {
  const Made made = run(R"(    - {set: pools, value: spec.pools}
    - {set: "pools[].cores", value: "index", show: true, because: "number ${string(index)}"}
)",
                        "  pools: [{name: x}]\n");
  EXPECT_EQ(made.shown, "pools[x].cores: number 0") << made.report;
  EXPECT_TRUE(made.choices.empty());
}

TEST(Derive, MayAskForFacts) {
  const std::string rows = "    - {set: name, value: facts.infraID, when: has(facts.infraID)}\n";
  EXPECT_EQ(run(rows, "").cluster, "{}");
  EXPECT_EQ(run(rows, "", "null", "{infraID: one-x}").cluster, R"({"name":"one-x"})");
}

TEST(Derive, ReportsFaults) {
  // Unknown path, with its place.
  const Made unknown = run("    - {set: colour, value: \"1\"}\n", "");
  EXPECT_EQ(unknown.codes, "GPU0407") << unknown.report;
  EXPECT_EQ(run("    - {set: \"pools[]\", value: \"1\"}\n", "").codes, "GPU0406");
  EXPECT_EQ(run("    - {set: a..b, value: \"1\"}\n", "").codes, "GPU0406");
  // Static type faults.
  EXPECT_EQ(run("    - {set: name, value: metadata.nam}\n", "").codes, "GPU0302");
  EXPECT_EQ(run("    - {set: name, value: \"1 +\"}\n", "").codes, "GPU0301");
  // Run time: no such row.
  const Made missing = run("    - {set: size, value: 'catalog.machines[\"none\"].cores'}\n", "");
  EXPECT_EQ(missing.codes, "GPU0303") << missing.report;
  EXPECT_NE(missing.report.find("while deriving `size`"), std::string::npos) << missing.report;
  // The derived tree follows its schema.
  EXPECT_EQ(run("    - {set: size, value: dyn(metadata.name)}\n", "").codes, "GPU0202");
}

TEST(Spread, GivesEarlierPartsMore) {
  const auto spread = [](const std::string& call) {
    return run("    - {set: pools, value: '" + call + ".map(n, {\"name\": string(n)})'}\n", "");
  };
  EXPECT_EQ(spread("spread(7, 3)").cluster,
            R"({"pools":[{"name":"3"},{"name":"2"},{"name":"2"}]})");
  EXPECT_EQ(spread("spread(0, 2)").cluster, R"({"pools":[{"name":"0"},{"name":"0"}]})");
  EXPECT_EQ(spread("spread(1, 0)").codes, "GPU0303");
}

}  // namespace
}  // namespace gpuctl::derive
