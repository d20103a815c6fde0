// Documents that real programs accepted or wrote must conform to the published schemas.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "schema/crds.hpp"
#include "support.hpp"

namespace gpuctl::schema {
namespace {

namespace fs = std::filesystem;

fs::path shared() {
  return fs::path(GPUCTL_SOURCE_DIR) / ".." / "shared";
}

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

std::vector<fs::path> files(const fs::path& below, const std::string& name) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(below)) {
    if (entry.path().filename() == name) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class Conformance : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(shared() / "conformance") || !fs::is_directory(shared() / "schemas")) {
      GTEST_SKIP() << "NO CONFORMANCE DATA in " << shared() << ": nothing of this test has run";
    }
    crds_ = std::make_unique<Crds>(
        std::vector<std::string>{(shared() / "schemas" / "openshift").string()}, sink_);
  }
  /// What validation finds in each document of a stream, errors only.
  std::string errors_in(const std::string& text, const std::string& group, const std::string& kind,
                        const std::string& version) {
    diag::Sources sources;
    yaml::Arena arena;
    diag::Sink sink;
    const diag::FileId file = sources.add_file("document.yaml", text);
    const auto documents = yaml::read_all(file, sources, arena, sink, yaml::published_limits());
    if (!documents) return "unreadable";
    const Crd* crd = crds_->find(group, version, kind, sink_);
    if (crd == nullptr) return "no CRD";
    for (const yaml::Node& document : *documents) {
      if (!document.is_null()) validate(*crd->schema, document, arena, sources, sink);
    }
    std::string out;
    for (const auto& finding : sink.all()) {
      if (finding.severity == diag::Severity::error) {
        out += finding.code + " " + finding.message + "; ";
      }
    }
    return out;
  }

  diag::Sink sink_;
  std::unique_ptr<Crds> crds_;
};

// The installer decodes its configuration with Go types and does not look at the schema it
// publishes, which is stricter in these cases (and right in most of them).
const std::map<std::string, std::string>& stricter() {
  static const std::map<std::string, std::string> cases = {
      {"002-vsphere-dual-stack-two-vips", "too many items in `networking.serviceNetwork`"},
      {"005-vsphere-fd-folder-bare", "`platform.vsphere.failureDomains[0].topology.folder`"},
      {"009-vsphere-hosts-dup-ip", "`platform.vsphere.hosts[0].networkDevice.gateway`"},
      {"015-vsphere-net-svc6-108", "too many items in `networking.serviceNetwork`"},
      {"020-vsphere-static-hosts-three-fds", "`platform.vsphere.hosts[0].networkDevice.gateway`"},
      {"072-aws-dual-stack-v6", "too many items in `networking.serviceNetwork`"},
      {"087-aws-tag-int", "wrong type for `platform.aws.userTags.kst`"},
      {"133-gcp-arch-arm", "`arm64` is not an allowed value of `compute[0].architecture`"},
      {"138-gcp-kms-noring", "`compute[0].platform.gcp.osDisk.encryptionKey.kmsKey.keyRing`"},
      {"141-gcp-maint-bogus", "`compute[0].platform.gcp.onHostMaintenance`"},
      {"144-gcp-project-none", "missing required field `platform.gcp.projectID`"},
      {"151-gcp-secureboot-bool", "wrong type for `compute[0].platform.gcp.secureBoot`"},
  };
  return cases;
}

TEST_F(Conformance, AcceptedInstallConfigs) {
  std::size_t accepted = 0;
  for (const fs::path& path :
       files(shared() / "conformance" / "install-config", "install-config.yaml")) {
    const std::string verdict = text_of(path.parent_path() / "verdict.yaml");
    if (verdict.find("accepted: true") == std::string::npos) continue;
    ++accepted;
    const std::string name = path.parent_path().filename().string();
    const std::string errors =
        errors_in(text_of(path), "install.openshift.io", "InstallConfig", "v1");
    const auto known = stricter().find(name);
    if (known == stricter().end()) {
      EXPECT_EQ(errors, "") << name;
    } else {
      EXPECT_NE(errors.find(known->second), std::string::npos) << name << ": " << errors;
    }
  }
  EXPECT_GT(accepted, 50U);
}

TEST_F(Conformance, GeneratedMachineSets) {
  std::size_t seen = 0;
  for (const fs::path& path : files(shared() / "conformance" / "machinesets", "machinesets.yaml")) {
    ++seen;
    EXPECT_EQ(errors_in(text_of(path), "machine.openshift.io", "MachineSet", "v1beta1"), "")
        << path;
  }
  EXPECT_GT(seen, 5U);
}

}  // namespace
}  // namespace gpuctl::schema
