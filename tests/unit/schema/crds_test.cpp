// Finding CRDs in directories: small ones made here, and all published ones when they are present.
#include "schema/crds.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <thread>

#include "support.hpp"

namespace gpuctl::schema {
namespace {

namespace fs = std::filesystem;

class CrdFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "gpuctl-crds-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string directory(const std::string& name) {
    fs::create_directories(root_ / name);
    return (root_ / name).string();
  }
  void write(const std::string& path, const std::string& text) {
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  static std::string crd(const std::string& kind, const std::string& field,
                         const std::string& version = "v1") {
    return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
           "x}\nspec:\n  group: example.com\n  scope: Namespaced\n  names:\n    kind: " +
           kind + "\n    plural: x\n  versions:\n  - name: " + version +
           "\n    served: true\n    schema:\n      openAPIV3Schema:\n        type: object\n"
           "        properties:\n          spec:\n            type: object\n            "
           "properties: {" +
           field + ": {type: integer}}\n";
  }
  static std::string messages(const diag::Sink& sink) {
    std::string out;
    for (const auto& finding : sink.all()) {
      out += finding.code + " " + finding.message;
      for (const std::string& note : finding.notes) out += " (" + note + ")";
      out += "\n";
    }
    return out;
  }

  fs::path root_;
};

TEST_F(CrdFiles, AreFoundByGroupVersionAndKind) {
  const std::string dir = directory("a");
  write("a/two.yaml", crd("Pump", "flow") + "---\n" + crd("Valve", "turns", "v2"));
  write("a/one.yaml", crd("Pipe", "length"));
  write("a/readme.md", "kind: Pump");
  diag::Sink sink;
  Crds crds({dir}, sink);
  const Crd* valve = crds.find("example.com", "v2", "Valve", sink);
  ASSERT_NE(valve, nullptr);
  EXPECT_EQ(valve->kind, "Valve");
  EXPECT_EQ(valve->version, "v2");
  EXPECT_TRUE(valve->namespaced);
  EXPECT_EQ(valve->file, dir + "/two.yaml");
  EXPECT_NE(at(*valve->schema, "spec.turns"), nullptr);
  EXPECT_EQ(crds.find("example.com", "v2", "Valve", sink), valve);
  EXPECT_EQ(crds.find("example.com", "v1", "Valve", sink), nullptr);
  EXPECT_EQ(crds.find("example.org", "v2", "Valve", sink), nullptr);
  EXPECT_EQ(crds.find("example.com", "v1", "Val", sink), nullptr);
  EXPECT_EQ(crds.load_all(sink).size(), 3U);
  EXPECT_EQ(messages(sink), "");
}

TEST_F(CrdFiles, TheFirstDirectoryWins) {
  const std::string first = directory("a");
  const std::string second = directory("b");
  write("a/x.yaml", crd("Pump", "flow"));
  write("b/x.yaml", crd("Pump", "pressure"));
  diag::Sink sink;
  Crds crds({second, first}, sink);
  const Crd* pump = crds.find("example.com", "v1", "Pump", sink);
  ASSERT_NE(pump, nullptr);
  EXPECT_NE(at(*pump->schema, "spec.pressure"), nullptr);
}

TEST_F(CrdFiles, OnlyFilesThatNameTheKindAreParsed) {
  const std::string dir = directory("a");
  write("a/1.yaml", "kind: Other\nbroken: [\n");
  write("a/2.yaml", crd("Pump", "flow"));
  diag::Sink sink;
  Crds crds({dir}, sink);
  EXPECT_NE(crds.find("example.com", "v1", "Pump", sink), nullptr);
  EXPECT_EQ(messages(sink), "");
  EXPECT_EQ(crds.load_all(sink).size(), 1U);
  EXPECT_TRUE(sink.has_errors()) << "the broken file is reported when it is read";
  const std::size_t before = sink.all().size();
  crds.load_all(sink);
  EXPECT_EQ(sink.all().size(), before) << "once";
  for (const auto& finding : sink.all()) {
    EXPECT_EQ(finding.primary.at, diag::kNoOrigin);
    ASSERT_FALSE(finding.notes.empty());
    EXPECT_NE(finding.notes.back().find("/1.yaml:"), std::string::npos);
  }
}

TEST_F(CrdFiles, QuotedNamesAndListsAreFound) {
  const std::string dir = directory("a");
  write("a/x.yaml",
        "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{\"kind\": "
        "\"CustomResourceDefinition\", \"spec\": {\"group\": \"example.com\", \"scope\": "
        "\"Cluster\", \"names\": {\"kind\": \"Pump\"}, \"versions\": [{\"name\": \"v1\", "
        "\"schema\": {\"openAPIV3Schema\": {\"type\": \"object\"}}}]}}]}\n");
  diag::Sink sink;
  Crds crds({dir}, sink);
  const Crd* pump = crds.find("example.com", "v1", "Pump", sink);
  ASSERT_NE(pump, nullptr) << messages(sink);
  EXPECT_FALSE(pump->namespaced);
}

TEST_F(CrdFiles, UnreadableDirectory) {
  diag::Sink sink;
  Crds crds({(root_ / "absent").string()}, sink);
  ASSERT_EQ(sink.all().size(), 1U);
  EXPECT_EQ(sink.all().front().code, "GPU0220");
}

TEST_F(CrdFiles, UnusableCrds) {
  const std::string dir = directory("a");
  write("a/x.yaml",
        "kind: CustomResourceDefinition\nspec: {group: example.com, names: {kind: Pump}, versions: "
        "[{name: v1}]}\n---\nkind: CustomResourceDefinition\nspec: {}\n");
  diag::Sink sink;
  Crds crds({dir}, sink);
  EXPECT_TRUE(crds.load_all(sink).empty());
  ASSERT_EQ(sink.all().size(), 2U) << messages(sink);
  EXPECT_EQ(sink.all()[0].code, "GPU0222");
  EXPECT_EQ(sink.all()[1].code, "GPU0222");
}

TEST_F(CrdFiles, ThreadsMayAskAtOnce) {
  const std::string dir = directory("a");
  for (int i = 0; i < 20; ++i) {
    write("a/" + std::to_string(i) + ".yaml", crd("Kind" + std::to_string(i), "flow"));
  }
  diag::Sink sink;
  Crds crds({dir}, sink);
  std::vector<std::size_t> errors(4, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < errors.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          diag::Sink own;
          const Crd* crd = crds.find("example.com", "v1", "Kind" + std::to_string(i), own);
          yaml::Arena arena;
          diag::Sources sources;
          const std::vector<yaml::Entry> spec = {arena.entry("flow", yaml::Node::boolean(true))};
          const std::vector<yaml::Entry> document = {arena.entry("spec", arena.map(spec))};
          if (crd != nullptr) validate(*crd->schema, arena.map(document), arena, sources, own);
          errors[t] += own.error_count();
        }
      });
    }
  }
  for (const std::size_t count : errors) EXPECT_EQ(count, 20U);
}

// Every published CRD loads, and what of it we cannot check is listed.
TEST(PublishedCrds, AllLoad) {
  const fs::path root = fs::path(GPUCTL_SOURCE_DIR) / ".." / "shared" / "schemas";
  if (!fs::is_directory(root)) {
    GTEST_SKIP() << "NO PUBLISHED CRDS at " << root << ": nothing of this test has run";
  }
  std::vector<std::string> directories;
  for (const char* name : {"openshift", "gitops", "gcp", "nvidia"}) {
    directories.push_back((root / name).string());
  }
  for (const auto& entry : fs::directory_iterator(root / "nvidia")) {
    if (entry.is_directory()) directories.push_back(entry.path().string());
  }
  std::sort(directories.begin() + 4, directories.end());
  diag::Sink sink;
  Crds crds(directories, sink);
  const std::vector<const Crd*> all = crds.load_all(sink);
  for (const diag::Diagnostic& finding : sink.all()) {
    const std::string text = finding.code + " " + finding.message + " " +
                             (finding.notes.empty() ? "" : finding.notes.back());
    EXPECT_NE(finding.severity, diag::Severity::error) << text;
    std::cout << text << "\n";
  }
  EXPECT_GT(all.size(), 90U);
  RuleCounts total;
  std::vector<std::string> unsupported;
  std::cout << std::left << std::setw(78) << "CRD"
            << "  eval  skip  unsupported\n";
  for (const Crd* crd : all) {
    const Survey found = survey(*crd->schema);
    total.evaluated += found.rules.evaluated;
    total.skipped += found.rules.skipped;
    total.unsupported += found.rules.unsupported;
    const std::string name = crd->group + "/" + crd->version + " " + crd->kind;
    if (found.rules.evaluated + found.rules.skipped + found.rules.unsupported != 0) {
      std::cout << std::left << std::setw(78) << name << std::right << std::setw(6)
                << found.rules.evaluated << std::setw(6) << found.rules.skipped << std::setw(13)
                << found.rules.unsupported << "\n";
    }
    for (const std::string& what : found.unsupported) unsupported.push_back(name + ": " + what);
  }
  std::cout << std::left << std::setw(78) << "total" << std::right << std::setw(6)
            << total.evaluated << std::setw(6) << total.skipped << std::setw(13)
            << total.unsupported << "\n";
  for (const std::string& what : unsupported) std::cout << "not checked: " << what << "\n";
  EXPECT_GT(total.evaluated, 100U);
}

}  // namespace
}  // namespace gpuctl::schema
