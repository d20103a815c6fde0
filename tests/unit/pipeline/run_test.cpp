// The chain of stages, on files in memory: what each product holds, and where a run ends.
#include "pipeline/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "cli/command.hpp"

namespace gpuctl::pipeline {
namespace {

constexpr const char* kLab = R"(apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: aws
  stage: dev
  baseDomain: example.com
  openshift: {version: "4.20"}
  aws: {region: eu-central-1}
  access: {pullSecret: {env: PULL_SECRET}}
  gpuPools:
    - {name: gpu, instanceType: g5.xlarge, replicas: 1}
)";
constexpr const char* kFacts = R"(apiVersion: gpuctl.dev/v1alpha1
kind: Facts
metadata: {name: lab}
spec: {infraID: lab-x7k2p, bootImages: {amd64: ami-0a1b2c3d4e5f60718}}
)";

class RunTest : public testing::Test {
 protected:
  static Knowledge& knowledge() {
    static diag::Sink findings;
    static Knowledge opened(cli::built_in_image(), "", "", findings);
    return opened;
  }

  Result run() { return pipeline::run("mem/lab.yaml", request_, knowledge()); }

  static bool has(const Result& result, std::string_view code) {
    const auto& all = result.sink.all();
    return std::any_of(all.begin(), all.end(),
                       [&](const diag::Diagnostic& one) { return one.code == code; });
  }

  static std::string said(const Result& result) {
    std::string out;
    for (const diag::Diagnostic& one : result.sink.all())
      out += one.code + ": " + one.message + "\n";
    return out;
  }

  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  }

  Request request_{.date = "2025-12-01", .given = {{"mem/lab.yaml", kLab}}};
};

TEST_F(RunTest, EachStageHasItsProduct) {
  request_.given["mem/lab.facts.yaml"] = kFacts;
  const Result result = run();
  ASSERT_TRUE(result.output.has_value()) << said(result);
  EXPECT_EQ(result.opened->blueprint.name, "lab");
  EXPECT_EQ(result.loaded->facts.get("infraID").as_string(), "lab-x7k2p");
  EXPECT_FALSE(result.loaded->old_lock.has_value());
  EXPECT_FALSE(result.derived->choices.empty());
  EXPECT_TRUE(result.manifests->rendered.withheld.empty());
  EXPECT_EQ(result.output->files.directory, "clusters/dev/lab");
  EXPECT_TRUE(result.output->files.files.contains("gpuctl.lock"));
  EXPECT_FALSE(result.inputs.facts_beside.empty());
  EXPECT_TRUE(result.inputs.facts.empty());
}

TEST_F(RunTest, WhatIsNotThereEndsAtTheDoor) {
  request_.given.clear();
  const Result result = run();
  EXPECT_TRUE(has(result, kUnreadable));
  EXPECT_FALSE(result.opened.has_value());
}

TEST_F(RunTest, AFaultyBlueprintIsNotOpened) {
  request_.given["mem/lab.yaml"] = replaced(kLab, "platform: aws", "platform: abacus");
  EXPECT_FALSE(run().opened.has_value());
  request_.given["mem/lab.yaml"] = replaced(kLab, "replicas: 1", "replicas: one");
  const Result result = run();
  EXPECT_TRUE(result.sink.has_errors());
  EXPECT_FALSE(result.loaded.has_value());
}

TEST_F(RunTest, FactsOfAnotherClusterEndTheLoading) {
  request_.given["mem/lab.facts.yaml"] = replaced(kFacts, "name: lab", "name: other");
  const Result result = run();
  EXPECT_TRUE(has(result, "GPU0680")) << said(result);
  EXPECT_TRUE(result.opened.has_value());
  EXPECT_FALSE(result.loaded.has_value());
}

TEST_F(RunTest, ARuleEndsItBeforeRenderingUnlessTheRequestDoesNotMind) {
  request_.given["mem/lab.yaml"] =
      replaced(kLab, "replicas: 1",
               "replicas: 1, mig: {layouts: [{devices: all, partitions: {1g.5gb: 7}}]}");
  const Result refused = run();
  ASSERT_TRUE(refused.sink.has_errors()) << said(refused);
  EXPECT_FALSE(refused.derived.has_value());
  request_.despite_rules = true;
  const Result rendered = run();
  EXPECT_EQ(said(rendered), said(refused));
  ASSERT_TRUE(rendered.manifests.has_value());
  EXPECT_FALSE(rendered.rendered().documents.empty());
}

TEST_F(RunTest, WithoutFactsDocumentsWait) {
  const Result result = run();
  ASSERT_TRUE(result.output.has_value()) << said(result);
  EXPECT_FALSE(result.manifests->rendered.withheld.empty());
}

TEST_F(RunTest, ALockOfTheTargetKeepsChoices) {
  request_.given["mem/lab.facts.yaml"] = kFacts;
  const std::map<std::string, std::string> files = run().output->files.files;
  request_.earlier = [&](const std::string& path) -> std::optional<std::string> {
    const std::string directory = "clusters/dev/lab/";
    const auto found =
        path.starts_with(directory) ? files.find(path.substr(directory.size())) : files.end();
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  const Result again = run();
  ASSERT_TRUE(again.output.has_value()) << said(again);
  ASSERT_TRUE(again.loaded->old_lock.has_value());
  EXPECT_TRUE(std::any_of(again.derived->choices.begin(), again.derived->choices.end(),
                          [](const derive::Choice& choice) { return choice.kept; }));
  EXPECT_EQ(again.output->files.files, files) << "a second run changes nothing";
}

TEST_F(RunTest, ASecretInTheInputsStopsItWithoutBeingShown) {
  const std::string secret = "ghp_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd01";
  request_.given["mem/lab.yaml"] =
      replaced(kLab, "name: lab", "name: lab, labels: {t: " + secret + "}");
  const Result result = run();
  EXPECT_TRUE(result.sink.has_errors());
  EXPECT_FALSE(result.output.has_value());
  EXPECT_EQ(said(result).find(secret), std::string::npos);
}

TEST_F(RunTest, AnExtraManifestComesFromMemoryToo) {
  request_.given["mem/lab.yaml"] =
      std::string(kLab) + "  extraManifests: [{layer: 90-own, path: own/map.yaml}]\n";
  request_.given["mem/own/map.yaml"] =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: default}\n";
  const Result result = run();
  ASSERT_TRUE(result.output.has_value()) << said(result);
  EXPECT_EQ(result.inputs.extra.size(), 1U);
  request_.given["mem/lab.yaml"] =
      replaced(request_.given["mem/lab.yaml"], "own/map", "../own/map");
  EXPECT_TRUE(run().sink.has_errors()) << "a path out of the directory";
}

TEST_F(RunTest, ProvenanceIsThereWhenAskedFor) {
  request_.provenance = true;
  const Result result = run();
  ASSERT_TRUE(result.manifests.has_value()) << said(result);
  EXPECT_NE(result.manifests->provenance, nullptr);
  EXPECT_FALSE(result.output.has_value()) << "marks are no origins";
}

TEST_F(RunTest, DocumentsOfOthersAreNoBlueprint) {
  request_.foreign = true;
  request_.given["mem/lab.yaml"] = "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n";
  const Result result = run();
  EXPECT_EQ(result.foreign, 1U);
  EXPECT_FALSE(result.opened.has_value());
}

TEST_F(RunTest, WhatIsIgnoredIsCounted) {
  const Result before = run();
  ASSERT_TRUE(has(before, "GPU1501")) << said(before);
  request_.given["mem/lab.yaml"] =
      std::string(kLab) + "  ignore: [{code: GPU1501, reason: wired by hand}]\n";
  const Result result = run();
  EXPECT_FALSE(has(result, "GPU1501"));
  ASSERT_EQ(result.ignored.size(), 1U);
  EXPECT_EQ(result.ignored.front().findings, 1U);
}

// An override that the reader of the document refuses, in the second of three clusters of a run.
TEST_F(RunTest, WhatOneClusterHasCleanIsNoExcuseForAnother) {
  const std::string faulty = std::string(kLab) +
                             "  overrides:\n"
                             "    - target: {kind: Subscription}\n"
                             "      patch: {spec: {channel: {no: text}}}\n";
  const std::string alone = [&] {
    request_.given = {{"mem/lab.yaml", faulty}, {"mem/lab.facts.yaml", kFacts}};
    return said(run());
  }();
  ASSERT_NE(alone.find("channel"), std::string::npos) << alone;
  request_.clean = std::make_shared<base::CleanRecord>();
  const std::string first = [&] {
    request_.given["mem/lab.yaml"] = kLab;
    return said(run());
  }();
  for (int cluster = 0; cluster < 2; ++cluster) {
    request_.given["mem/lab.yaml"] = faulty;
    EXPECT_EQ(said(run()), alone);
    request_.given["mem/lab.yaml"] = kLab;
    EXPECT_EQ(said(run()), first);
  }
}

TEST_F(RunTest, ARecordChangesNoByte) {
  request_.given["mem/lab.facts.yaml"] = kFacts;
  const std::map<std::string, std::string> files = run().output->files.files;
  request_.clean = std::make_shared<base::CleanRecord>();
  EXPECT_EQ(run().output->files.files, files);
  EXPECT_EQ(run().output->files.files, files);
}

}  // namespace
}  // namespace gpuctl::pipeline
