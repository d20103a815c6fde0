// Which link is broken first, and what waits for it.
#include "diagnose/judge.hpp"

#include <gtest/gtest.h>

#include "diagnose/codes.hpp"
#include "diagnose/path_pattern.hpp"
#include "lab.hpp"

namespace gpuctl::diagnose {
namespace {

std::vector<std::string> order(const Chain& chain) {
  std::vector<std::string> out;
  for (const Link& link : chain.links()) out.push_back(link.name);
  return out;
}

TEST(Chain, PutsLinksBehindThoseTheyWaitFor) {
  const Lab lab;
  EXPECT_TRUE(lab.sink.empty());
  EXPECT_EQ(order(lab.chain), (std::vector<std::string>{"machine", "driver", "plugin", "license"}));
}

TEST(Chain, RefusesWhatContradictsItself) {
  const auto faulty = [](const std::string& spec) {
    const Lab lab("apiVersion: gpuctl.dev/v1alpha1\nkind: Diagnosis\nspec:\n" + spec, "spec: {}\n");
    return !lab.sink.all().empty() && lab.sink.all()[0].code == kFaultyDiagnosis;
  };
  EXPECT_TRUE(faulty("  links: [{name: a, title: a, after: [b]}]\n"));
  EXPECT_TRUE(faulty("  links: [{name: a, title: a}, {name: a, title: a}]\n"));
  EXPECT_TRUE(
      faulty("  links: [{name: a, title: a, after: [b]}, {name: b, title: b, after: [a]}]\n"));
  EXPECT_TRUE(faulty("  links: [{name: a, title: a, kinds: [Nothing]}]\n"));
  EXPECT_TRUE(faulty("  layouts: [{name: a, source: b, logs: ['x//y']}]\n"));
  EXPECT_TRUE(faulty("  links: [{name: installer, title: a}]\n"));
  EXPECT_FALSE(faulty("  links: [{name: a, title: a}]\n"));
}

TEST(Chain, RefusesSignaturesOfNoLink) {
  Lab lab(kChain,
          "spec: {signatures: [{name: a, of: [drivers], pattern: abcd, cause: a, remedy: b, "
          "source: c}]}\n");
  diag::Sink sink;
  check(lab.library, sink);
  ASSERT_EQ(sink.all().size(), 1U);
  EXPECT_EQ(sink.all()[0].code, kFaultyDiagnosis);
}

TEST(Judging, SaysThatAllIsWell) {
  Lab lab;
  lab.add_machine("m1", "phase: Running, node: n1");
  lab.add_pod("driver-1", "driver", "Running");
  lab.add_log("driver-1", "it went wrong, but it was mended\n");
  const Diagnosis diagnosis = lab.judge();
  EXPECT_TRUE(diagnosis.healthy());
  EXPECT_EQ(diagnosis.first(), nullptr);
  EXPECT_EQ(Lab::link(diagnosis, "machine").state, State::ok);
  EXPECT_EQ(Lab::link(diagnosis, "driver").state, State::ok);
  EXPECT_EQ(Lab::link(diagnosis, "plugin").state, State::unknown);
}

TEST(Judging, PutsTheFirstBrokenLinkFirst) {
  Lab lab;
  lab.add_pod("plugin-1", "plugin", "Failed");
  lab.add_pod("driver-1", "driver", "Failed");
  lab.add_log("driver-1", "it went wrong\nit cannot build\n");
  const Diagnosis diagnosis = lab.judge();
  ASSERT_NE(diagnosis.broken(), nullptr);
  EXPECT_EQ(diagnosis.broken()->link->name, "driver");
  EXPECT_EQ(diagnosis.first()->cause(), "build");
  EXPECT_EQ(diagnosis.first()->causes.size(), 1U);  // the weak one is left out
  EXPECT_EQ(diagnosis.first()->causes[0].at, "driver-1.log:2");
  EXPECT_EQ(Lab::link(diagnosis, "plugin").state, State::waiting);
  EXPECT_EQ(Lab::link(diagnosis, "plugin").findings[0].waits_for, "driver");
}

TEST(Judging, KeepsNodesApart) {
  Lab lab;
  lab.add_machine("m1", "phase: Failed, message: no quota left");
  lab.add_pod("driver-1", "driver", "Failed", "n1");
  lab.add_pod("plugin-1", "plugin", "Failed", "n1");
  lab.add_pod("plugin-2", "plugin", "Failed", "n2");
  const Diagnosis diagnosis = lab.judge();
  EXPECT_EQ(diagnosis.first()->cause(), "quota");
  // A machine without a node does not explain the driver on another.
  EXPECT_EQ(Lab::link(diagnosis, "driver").state, State::broken);
  const LinkResult& plugin = Lab::link(diagnosis, "plugin");
  EXPECT_EQ(plugin.state, State::broken);
  EXPECT_EQ(plugin.findings[0].waits_for, "driver");
  EXPECT_EQ(plugin.findings[1].waits_for, "");
}

TEST(Judging, SaysThatWhatIsNotThereWaits) {
  Lab lab;
  lab.add_machine("m1", "phase: Failed");
  const Diagnosis diagnosis = lab.judge();
  EXPECT_EQ(diagnosis.first()->cause(), "failed");
  EXPECT_EQ(Lab::link(diagnosis, "license").state, State::waiting);
  EXPECT_EQ(Lab::link(diagnosis, "license").waits_for, "machine");
}

TEST(Judging, ReadsWatchedLogsOfPodsWithoutFault) {
  Lab lab;
  lab.add_pod("driver-1", "driver", "Running");
  lab.add_log("driver-1", "cannot build\nno licence\n");
  const Diagnosis diagnosis = lab.judge();
  EXPECT_EQ(diagnosis.broken()->link->name, "license");
  EXPECT_TRUE(Lab::link(diagnosis, "driver").findings.empty());
}

TEST(Judging, ReadsLogsWithoutTheirPods) {
  Lab lab;
  lab.add_log("driver-1", "cannot build\n");
  lab.add_log("", "no quota\n");
  const Diagnosis diagnosis = lab.judge();
  EXPECT_EQ(diagnosis.broken()->link->name, "machine");
  EXPECT_EQ(diagnosis.first()->cause(), "quota");
  EXPECT_EQ(Lab::link(diagnosis, "driver").findings[0].cause(), "build");
}

TEST(Judging, KnowsSavedLogsByTheirNames) {
  Lab lab;
  lab.evidence.logs.push_back(
      {"saved/driver-1.log", {}, "no quota\ncannot build\n", {}, {}, {}, true});
  const Diagnosis diagnosis = lab.judge();
  EXPECT_EQ(diagnosis.broken()->link->name, "driver");
  Lab other;  // what is of no use to the driver may be of use to others
  other.evidence.logs.push_back({"saved/driver-1.log", {}, "no quota\n", {}, {}, {}, true});
  EXPECT_EQ(other.judge().broken()->link->name, "machine");
}

TEST(Judging, TakesListsAndTheFirstOfAName) {
  Lab lab;
  lab.add(
      "apiVersion: sample.example/v1\nkind: MachineList\nitems:\n"
      "- {metadata: {name: m1}, status: {phase: Running}}\n"
      "- {metadata: {name: m1}, status: {phase: Failed}}\n");
  EXPECT_EQ(lab.evidence.of("Machine").size(), 1U);
  EXPECT_TRUE(lab.judge().healthy());
  EXPECT_FALSE(lab.evidence.is_known("Pod"));
  lab.add("apiVersion: v1\nkind: PodList\nitems: []\n");
  EXPECT_TRUE(lab.evidence.is_known("Pod"));
}

TEST(Judging, TakesObjectsThatAreOdd) {
  Lab lab;
  lab.add("apiVersion: v1\nkind: Pod\nmetadata: [1]\nstatus: 7\n");
  lab.add("apiVersion: v1\nkind: Pod\n");
  lab.add("apiVersion: sample.example/v1\nkind: Machine\nstatus: {phase: {a: b}}\n");
  lab.add("apiVersion: v1\nkind: List\nitems: null\n");
  lab.add("just: anything\n");
  EXPECT_TRUE(lab.judge().healthy());
}

TEST(PathPatterns, SayWhatPartsAre) {
  const auto pattern = PathPattern::parse("pods/{pod}/*/{container}.log");
  ASSERT_TRUE(pattern);
  const auto parts = pattern->match("a/b/pods/driver-1/x/main.log");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->at("pod"), "driver-1");
  EXPECT_EQ(parts->at("container"), "main");
  EXPECT_FALSE(pattern->match("pods/driver-1/main.log"));
  EXPECT_FALSE(pattern->match("pods/driver-1/x/main.txt"));
  EXPECT_FALSE(pattern->match("pods/driver-1/x/.log"));
  EXPECT_FALSE(PathPattern::parse("a//b"));
  EXPECT_FALSE(PathPattern::parse("a/{b"));
  EXPECT_FALSE(PathPattern::parse("{}"));
}

}  // namespace
}  // namespace gpuctl::diagnose
