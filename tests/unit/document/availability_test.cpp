#include "document/availability.hpp"

#include <gtest/gtest.h>

#include "document/document.hpp"
#include "support/knowledge.hpp"

namespace gpuctl::document {
namespace {

using testing::Files;
using testing::Lab;
using testing::lab;
using testing::wrap;

Files files(const std::string& rows) {
  Files out = lab();
  out["providers/lab/provider.yaml"] =
      wrap("Provider",
           "  title: Lab\n  platform: true\n  builds: [lab]\n  templates: []\n"
           "  releases: {option: lab-version, title: Lab, table: labReleases, gates: labGates,\n"
           "    unnamed: \"1.2\", featureSets: [Default, Preview], customFeatureSet: Custom}\n");
  out["providers/lab/tables/releases.yaml"] =
      wrap("Table",
           "  key: minor\n  columns: {minor: {type: string}, ordinal: {type: integer},\n"
           "    branch: {type: boolean}}\n"
           "  rows:\n    - {minor: \"1.1\", ordinal: 101}\n    - {minor: \"1.2\", ordinal: 102}\n"
           "    - {minor: \"1.3\", ordinal: 103, branch: true}\n"
           "    - {minor: \"1.4\", ordinal: 104}\n",
           "labReleases");
  out["providers/lab/tables/gates.yaml"] =
      wrap("Table",
           "  key: gate\n  columns: {gate: {type: string}, states: {type: object,\n"
           "    additionalProperties: {type: string}}}\n"
           "  rows:\n    - {gate: Disks, states: {\"1.2\": Preview, \"1.3\": Default, \"1.4\": "
           "Default}}\n"
           "    - {gate: Never, states: {\"1.2\": \"Off\"}}\n",
           "labGates");
  out["providers/lab/documents/rack.yaml"] = wrap("DocumentSchema", R"(
  match:
    - where: {kind: Rack}
  schema:
    type: object
    x-gpuctl-reader: go
    properties:
      kind: {type: string}
      set: {type: string}
      gates: {type: array, items: {type: string}}
      mode: {type: string}
      pools:
        type: array
        items:
          type: object
          properties:
            disks: {type: array, items: {type: string}}
            width: {type: integer}
)",
                                                  "Rack");
  out["providers/lab/documents/rack-releases.yaml"] =
      wrap("DocumentReleases",
           "  on: Rack\n  codes: {lacks: GPU9101, gate: GPU9102}\n"
           "  switches: {set: set, gates: gates}\n"
           "  unknown:\n    - {until: \"1.1\", says: ignored up to 1.1}\n"
           "    - {since: \"1.2\", says: refused from 1.2 on}\n"
           "  places: {pool: [\"pools[]\"]}\n  rows:\n" +
               rows);
  return out;
}

struct Checked {
  std::string codes;
  std::vector<diag::Diagnostic> findings;
};

Checked run(const std::string& text, const std::string& release, const std::string& rows,
            bool rendered = false) {
  Lab lab(files(rows));
  if (lab.platform == nullptr) return {lab.report(), {}};
  diag::Sources& sources = lab.library->sources();
  const auto kinds = Kinds::compile(
      lab.platform, [](const std::string&) { return nullptr; }, true, sources, lab.sink);
  if (kinds == nullptr) return {lab.report(), {}};
  Context context;
  context.release = release;
  context.rendered = rendered;
  diag::Sink found;
  kinds->check(lab.parse("kind: Rack\n" + text), context, {sources, lab.library->arena(), found});
  Checked out;
  for (const diag::Diagnostic& finding : found.all()) {
    out.codes += (out.codes.empty() ? "" : " ") + finding.code + "@" + finding.path;
  }
  out.findings = found.all();
  return out;
}

constexpr const char* kWidth = "    - {in: pool, path: width, since: \"1.2\", source: s}\n";
constexpr const char* kDisks =
    "    - {in: pool, path: disks, when: size(value) > 1, what: many disks, gate: Disks, source: "
    "s}\n";

TEST(Availability, FieldOfANewerRelease) {
  EXPECT_EQ(run("pools: [{width: 1}, {width: 2}]\n", "1.1", kWidth).codes,
            "GPU9101@pools[0].width GPU9101@pools[1].width");
  EXPECT_EQ(run("pools: [{width: 1}]\n", "1.2", kWidth).codes, "");
  EXPECT_EQ(run("pools: [{width: 1}]\n", "", kWidth).codes, "");  // 1.2, when nobody names one
  // A reader without the field sees it even when it is empty, and in any case.
  EXPECT_EQ(run("pools: [{width: null}]\n", "1.1", kWidth).codes, "GPU9101@pools[0].width");
  EXPECT_EQ(run("pools: [{Width: null}]\n", "1.1", kWidth).codes.substr(0, 7), "GPU0622");
}

TEST(Availability, SaysWhatReadersDo) {
  const Checked other = run("pools: [{width: 1}]\n", "1.1", kWidth);
  ASSERT_EQ(other.findings.size(), 1U);
  EXPECT_EQ(other.findings[0].message, "Lab 1.1 has no field `width`");
  EXPECT_EQ(other.findings[0].notes.front(), "ignored up to 1.1");
  EXPECT_EQ(run("wdth: 1\n", "1.4", kWidth).findings[0].notes.front(), "refused from 1.2 on");
  const Checked ours = run("pools: [{width: 1}]\n", "1.1", kWidth, true);
  ASSERT_EQ(ours.findings.size(), 1U);
  EXPECT_EQ(ours.findings[0].notes.front(), "source: s");
}

TEST(Availability, FieldThatIsGone) {
  const std::string row = "    - {path: mode, until: \"1.1\", source: s}\n";
  EXPECT_EQ(run("mode: a\n", "1.1", row).codes, "");
  EXPECT_EQ(run("mode: a\n", "1.2", row).codes, "GPU9101@mode");
}

TEST(Availability, ValuesOfANewerRelease) {
  const std::string row = "    - {path: mode, values: [fast], since: \"1.2\", source: s}\n";
  EXPECT_EQ(run("mode: fast\n", "1.1", row).codes, "GPU9101@mode");
  EXPECT_EQ(run("mode: slow\n", "1.1", row).codes, "");
}

TEST(Availability, GateByFeatureSet) {
  const std::string two = "pools: [{disks: [a, b]}]\n";
  EXPECT_EQ(run(two, "1.2", kDisks).codes, "GPU9102@pools[0].disks");
  EXPECT_EQ(run("pools: [{disks: [a]}]\n", "1.2", kDisks).codes, "");
  EXPECT_EQ(run(two + "set: Preview\n", "1.2", kDisks).codes, "");
  EXPECT_EQ(run(two + "set: Default\n", "1.2", kDisks).codes, "GPU9102@pools[0].disks");
  EXPECT_EQ(run(two, "1.4", kDisks).codes, "");
  EXPECT_EQ(run(two, "1.1", kDisks).codes, "");  // knows no such gate
  // With single gates, those that are on by default are off.
  EXPECT_EQ(run(two + "set: Custom\n", "1.4", kDisks).codes, "GPU9102@pools[0].disks");
  EXPECT_EQ(run(two + "set: Custom\ngates: [Disks=true]\n", "1.2", kDisks).codes, "");
  EXPECT_EQ(run(two + "set: Custom\ngates: [Disks=false, Disksx=true]\n", "1.2", kDisks).codes,
            "GPU9102@pools[0].disks");
  const Checked shut = run(two, "1.2", kDisks);
  EXPECT_EQ(shut.findings[0].message, "feature gate `Disks` is off in Lab 1.2: no many disks");
  // 1.3 is a branch, and never proposed.
  EXPECT_NE(shut.findings[0].expected.find("Lab 1.4"), std::string::npos)
      << shut.findings[0].expected;
  EXPECT_EQ(
      run("mode: a\nset: Preview\n", "1.2", "    - {path: mode, gate: Never, source: s}\n").codes,
      "GPU9102@mode");
}

TEST(Availability, FaultyTables) {
  const auto faulty = [](const std::string& row) { return run("", "1.2", row).codes; };
  EXPECT_NE(faulty("    - {path: mode, since: \"9.9\", source: s}\n").find("GPU0402"),
            std::string::npos);
  EXPECT_NE(faulty("    - {path: mode, gate: Dsks, source: s}\n").find("GPU0402"),
            std::string::npos);
  EXPECT_NE(faulty("    - {in: pol, path: mode, since: \"1.2\", source: s}\n").find("GPU0402"),
            std::string::npos);
}

}  // namespace
}  // namespace gpuctl::document
