// What an assessment makes of rows, by the built-in knowledge.
#include "effects/assessment.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "cli/command.hpp"
#include "effects/difference.hpp"
#include "pipeline/knowledge.hpp"
#include "yaml/read.hpp"

namespace gpuctl::effects {
namespace {

constexpr const char* kPool = R"(apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerNodePool
metadata: {name: lab-a, namespace: project}
spec: {location: us-central1, nodeConfig: {guestAccelerator: [{type: nvidia-l4, count: 1}], machineType: g2-standard-8}}
)";
constexpr const char* kFirewall = R"(apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeFirewall
metadata: {name: lab, namespace: project}
spec: {disabled: false}
)";

class Assessing : public testing::Test {
 protected:
  static const Rows& rows() {
    static diag::Sink findings;
    static pipeline::Knowledge opened(cli::built_in_image(), "", "", findings);
    return *opened.platform("gke", diag::kNoOrigin, findings)->effects;
  }

  yaml::Node document(const std::string& text) {
    diag::Sink sink;
    const auto found = yaml::read(sources_.add_file("document", text), sources_, arena_, sink);
    return found ? *found : yaml::Node();
  }

  static std::string with(std::string text, const std::string& part, const std::string& other) {
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), other);
  }

  // Of documents of one layer; they see nothing of a blueprint.
  Assessment of(const std::vector<std::pair<std::string, std::string>>& changes,
                const std::string& folder) {
    Side earlier;
    Side later;
    int number = 0;
    for (const auto& [from, to] : changes) {
      const std::string path = folder + "/" + std::to_string(number++) + ".yaml";
      earlier.manifests.push_back({path, folder, "", document(from)});
      later.manifests.push_back({path, folder, "", document(to)});
    }
    const Surroundings surroundings{std::vector<cel::Value>(
        rows().scope().environment->variables.size(), cel::Value(yaml::Node()))};
    return assess(rows(), earlier, later, surroundings, arena_);
  }

  static const ObjectChange& object(const Assessment& assessment, const std::string& kind) {
    for (const ObjectChange& change : assessment.objects) {
      if (change.kind == kind) return change;
    }
    throw std::out_of_range(kind);
  }

  diag::Sources sources_;
  yaml::Arena arena_;
};

TEST_F(Assessing, RefusedHoldsUpItsFolder) {
  const Assessment found = of({{kPool, with(kPool, "g2-standard-8", "g2-standard-16")},
                               {kFirewall, with(kFirewall, "disabled: false", "disabled: true")}},
                              "management");
  EXPECT_EQ(object(found, "ContainerNodePool").worst(), Effect::refused);
  EXPECT_EQ(object(found, "ContainerNodePool").blocked_by, "");
  EXPECT_EQ(object(found, "ComputeFirewall").blocked_by, "ContainerNodePool/project/lab-a");
}

TEST_F(Assessing, RefusedAfterwardsHoldsUpNothingElse) {
  const Assessment found = of({{kPool, with(kPool, "count: 1", "count: 2")},
                               {kFirewall, with(kFirewall, "disabled: false", "disabled: true")}},
                              "management");
  EXPECT_EQ(object(found, "ContainerNodePool").worst(), Effect::refused);
  EXPECT_TRUE(object(found, "ContainerNodePool").findings.front().latent);
  EXPECT_EQ(object(found, "ComputeFirewall").blocked_by, "");
}

TEST_F(Assessing, WhatAFileRowIsAboutIsNoObject) {
  const Assessment applied = of({{kPool, with(kPool, "count: 1", "count: 2")}}, "management");
  EXPECT_EQ(applied.objects.size(), 1U);
  const Assessment by_hand = of({{kPool, with(kPool, "count: 1", "count: 2")}}, "install");
  EXPECT_TRUE(by_hand.objects.empty());
  EXPECT_EQ(by_hand.worst(), Effect::none);
}

TEST_F(Assessing, FilesByPattern) {
  const auto effect_of = [](std::string_view path) {
    const FileRow* row = rows().file(path);
    return row == nullptr ? Effect::unknown : row->effect;
  };
  EXPECT_EQ(effect_of("cluster.yaml"), Effect::none);
  EXPECT_EQ(effect_of("cluster.yaml.orig"), Effect::unknown);
  EXPECT_EQ(effect_of("layers/cluster.yaml"), Effect::unknown);
  EXPECT_EQ(effect_of("layers/40-gpu/kustomization.yaml"), Effect::none);
  EXPECT_EQ(effect_of("kustomization.yaml"), Effect::unknown);
  EXPECT_EQ(effect_of("install/install-config.yaml"), Effect::install_only);
  EXPECT_EQ(effect_of("install/deep/er.sh"), Effect::none);
  EXPECT_EQ(effect_of("installed/a.sh"), Effect::unknown);
}

TEST_F(Assessing, RowsOfAllKinds) {
  const std::vector<Step> prune = {
      {"metadata"}, {"annotations"}, {"kustomize.toolkit.fluxcd.io/prune"}};
  const std::vector<Step> other = {{"metadata"}, {"annotations"}, {"example.com/a"}};
  EXPECT_TRUE(rows().covers("example.com", "Unheard", prune));
  EXPECT_FALSE(rows().covers("example.com", "Unheard", other));
  EXPECT_TRUE(rows().covers("", "ConfigMap", prune));
  EXPECT_TRUE(rows().covers("", "ConfigMap", other));
  // Those of a later folder come before those of the kind itself in an earlier one.
  const std::vector<const Kind*>& known = rows().of("", "Service");
  ASSERT_EQ(known.size(), 5U);
  EXPECT_EQ(known.front()->name, "*");
  EXPECT_EQ(known[1]->name, "Service");
  EXPECT_EQ(known.back()->name, "Service");
}

}  // namespace
}  // namespace gpuctl::effects
