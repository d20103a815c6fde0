// Manifests on the disk become a blueprint, and back.
#include "importer/propose.hpp"

#include <gtest/gtest.h>

#include "../base/scratch.hpp"
#include "cli/command.hpp"

namespace gpuctl::importer {
namespace {

class ProposeTest : public testing::Test {
 protected:
  std::optional<Draft> propose() {
    static diag::Sink findings;
    static pipeline::Knowledge knowledge(cli::built_in_image(), "", "", findings);
    sources_ = std::make_unique<diag::Sources>(&knowledge.library().sources());
    return importer::propose({{scratch_ / "in"}, "", {}, "out/", "2025-12-01"}, knowledge,
                             {*sources_, arena_, sink_});
  }

  bool said(std::string_view code) const {
    for (const diag::Diagnostic& one : sink_.all()) {
      if (one.code == code) return true;
    }
    return false;
  }

  test::Scratch scratch_;
  std::unique_ptr<diag::Sources> sources_;
  yaml::Arena arena_;
  diag::Sink sink_;
};

TEST_F(ProposeTest, NothingToReadIsAnError) {
  EXPECT_FALSE(propose().has_value());
  EXPECT_TRUE(said("GPU0002"));
}

TEST_F(ProposeTest, DocumentsOfNoPlatformAreAnError) {
  test::put(scratch_ / "in/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
  EXPECT_FALSE(propose().has_value());
  EXPECT_TRUE(said("GPU0634"));
}

TEST_F(ProposeTest, AnInstallConfigGivesABlueprintAndItsCounts) {
  test::put(scratch_ / "in/install-config.yaml",
            "apiVersion: v1\nmetadata: {name: lab}\nbaseDomain: example.com\n"
            "controlPlane: {name: master, replicas: 3}\n"
            "compute: [{name: worker, replicas: 2}]\n"
            "platform: {aws: {region: eu-central-1}}\npullSecret: ''\n");
  test::put(scratch_ / "in/notes.txt", "not read");
  const std::optional<Draft> draft = propose();
  ASSERT_TRUE(draft.has_value());
  EXPECT_TRUE(draft->files.contains("out/lab.yaml"));
  EXPECT_EQ(draft->fates.size(), 1U);
  EXPECT_EQ(counts(*draft).substr(0, 10), "1 document");
  EXPECT_TRUE(said("GPU0633")) << "a file that is no manifest";
  EXPECT_TRUE(draft->trial.opened.has_value());
}

}  // namespace
}  // namespace gpuctl::importer
