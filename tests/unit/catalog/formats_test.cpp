#include "catalog/formats.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/knowledge.hpp"

namespace gpuctl::catalog {
namespace {

using testing::wrap;

std::string provider() {
  return wrap("Provider", "  {title: Lab, platform: false, builds: [lab], templates: []}\n");
}

// What the formats of the project say of one file, by default in a folder that is a provider.
std::string findings(const std::string& path, const std::string& text, bool provided = true) {
  namespace fs = std::filesystem;
  std::vector<Overlay> files = {{path, path, text}};
  const std::string lab = "providers/lab/provider.yaml";
  if (provided) files.push_back({lab, lab, provider()});
  for (const auto& entry : fs::directory_iterator(GPUCTL_SOURCE_DIR "/providers/formats")) {
    std::ifstream in(entry.path());
    const std::string name = "providers/formats/" + entry.path().filename().string();
    files.push_back({name, name, {std::istreambuf_iterator<char>(in), {}}});
  }
  diag::Sink sink;
  Library library(nullptr, std::move(files), sink);
  const bool good = check_formats(library, sink);
  EXPECT_EQ(good, !sink.has_errors());
  std::string out;
  for (const diag::Diagnostic& one : sink.sorted(library.sources())) {
    const bool alone = one.message.find("no provider") != std::string::npos ||
                       one.message.find("no TemplateBase") != std::string::npos;
    EXPECT_EQ(one.code, alone ? "GPU0402" : "GPU0401");
    out += (out.empty() ? "" : "; ") + one.message;
    for (const std::string& help : one.help) out += " (" + help + ")";
  }
  return out;
}

std::string rules(const std::string& row) {
  return findings("providers/lab/rules.yaml", wrap("Rules", "  rules:\n    - {" + row + "}\n"));
}

constexpr const char* kRule = "code: GPU9001, severity: error, check: \"true\", at: x, message: m";

TEST(Formats, TakeWhatIsRight) {
  EXPECT_EQ(rules(kRule), "");
  EXPECT_EQ(findings("providers/lab/secrets/a.yaml",
                     wrap("SecretRules", "  names: [{ending: pin, name: a PIN}]\n")),
            "");
}

TEST(Formats, KnowTheirPaths) {
  EXPECT_EQ(findings("providers/lab/rule.yaml", wrap("Rules", "  rules: []\n")),
            "no knowledge is read from `providers/lab/rule.yaml` (did you mean `rules.yaml` "
            "or `rules/*.yaml`?)");
  EXPECT_EQ(findings("providers/lab/kinds.yaml", wrap("Kind", "  kinds: []\n")),
            "`providers/lab/kinds.yaml` is no Kinds (did you mean `Kinds`?)");
  EXPECT_EQ(findings("providers/lab/documents/a.yaml", wrap("Rules", "  rules: []\n")),
            "`providers/lab/documents/a.yaml` is no DocumentReleases or DocumentRules or "
            "DocumentSchema");
}

TEST(Formats, TemplatesAreListed) {
  const std::string path = "templates/a/b/c.yaml";
  EXPECT_EQ(findings(path, wrap("Template", "  output: x\n  raw: true\n  template: {a: [1]}\n")),
            "no provider lists `" + path + "`");
}

TEST(Formats, BasesAreExtendedAndNotListed) {
  const std::string base = wrap("TemplateBase", "  layer: x\n", "base");
  EXPECT_EQ(findings("templates/a/base.yaml", base), "");
  EXPECT_EQ(findings("templates/a/base.yaml", wrap("TemplateBase", "  layr: x\n", "base")),
            "TemplateBase: unknown field `spec.layr` (did you mean `layer`?)");
  EXPECT_EQ(
      findings("templates/a/b.yaml", wrap("Template", "  extends: a/base.yaml\n  template: {}\n")),
      "no TemplateBase `a/base.yaml`");
}

TEST(Formats, FoldersAreProviders) {
  const std::string path = "providers/lab/rules.yaml";
  EXPECT_EQ(findings(path, wrap("Rules", "  rules: []\n"), false),
            "`providers/lab/` has no provider.yaml: nothing reads what it holds");
  EXPECT_EQ(findings("providers/lab/secrets/a.yaml",
                     wrap("SecretRules", "  names: [{ending: pin, name: a PIN}]\n"), false),
            "");
}

TEST(Formats, NameFieldsValuesAndWhatIsMissing) {
  EXPECT_EQ(rules(std::string(kRule) + ", chek: a"),
            "Rules: unknown field `spec.rules[0].chek` (did you mean `check`?)");
  EXPECT_EQ(rules("code: X1, severity: bad, check: \"true\", at: x, message: m"),
            "Rules: value of `spec.rules[0].code` does not match its pattern; Rules: `bad` is "
            "not an allowed value of `spec.rules[0].severity`");
  EXPECT_EQ(rules("code: GPU9001, severity: error, at: x, message: m"),
            "Rules: missing required field `spec.rules[0].check`");
  EXPECT_EQ(findings("providers/lab/documents/a.yaml",
                     wrap("DocumentRules", "  rules:\n    - {\"on\": Sample, needs: facts, " +
                                               std::string(kRule) + "}\n")),
            "DocumentRules: `facts` is not an allowed value of `spec.rules[0].needs`");
  EXPECT_EQ(findings("providers/lab/kinds.yaml",
                     wrap("Kinds", "  kinds: [{apiVersion: v1, kind: Pod, protection: none}]\n")),
            "Kinds: missing required field `spec.kinds[0].scope`");
  EXPECT_EQ(findings("providers/lab/secrets/a.yaml",
                     wrap("SecretRules",
                          "  patterns: [{pattern: a, keywords: [abc], source: nobody}]\n")),
            "SecretRules: missing required field `spec.patterns[0].name`");
  EXPECT_EQ(
      findings("templates/t.yaml", wrap("Template", "  layer: a\n  phase: late\n  template: {}\n")),
      "Template: `late` is not an allowed value of `spec.phase`");
}

TEST(Formats, HaveRulesOfTheirOwn) {
  const auto table = [](const std::string& head) {
    return findings("providers/lab/tables/t.yaml",
                    wrap("Table", "  columns: {a: {type: string}}\n  rows: []\n" + head));
  };
  const std::string broken = " does not meet a rule of its schema: ";
  EXPECT_EQ(table("  key: a\n  required: [a, c]\n"),
            "Table: `spec.required`" + broken + "no column `c`");
  const auto place = [](const std::string& head) {
    return findings("templates/t.yaml", wrap("Template", "  template: {}\n" + head));
  };
  const std::string one =
      "Template: `spec`" + broken + "a template has one of `layer`, `folder` and `output`";
  EXPECT_EQ(place(""), one);
  EXPECT_EQ(place("  raw: true\n"), one);
  EXPECT_EQ(place("  layer: a\n  folder: b\n"), one);
  const std::string objects =
      "Template: `spec.folder`" + broken + "`folder` holds objects of the phase `documents`";
  EXPECT_EQ(place("  folder: a\n  raw: true\n"), objects);
  EXPECT_EQ(place("  folder: a\n  phase: index\n"), objects);
  EXPECT_EQ(place("  output: a\n  private: true\n"), "Template: `spec.private`" + broken +
                                                         "`private` is for objects "
                                                         "of a layer");
}

TEST(Formats, LookIntoSchemas) {
  const auto schema = [](const std::string& text) {
    return findings("providers/lab/schema.yaml", wrap("Schema", "  " + text + "\n"));
  };
  EXPECT_EQ(schema("{fields: {a: {type: array, items: {type: string}}}}"), "");
  EXPECT_EQ(schema("{fields: {a: {type: array, items: {typ: string}}}}"),
            "Schema: unknown field `typ` (did you mean `type`?)");
  EXPECT_EQ(schema("{fields: {a: {type: string, x-gpuctl-secert: true}}}"),
            "Schema: unknown field `x-gpuctl-secert` (did you mean `x-gpuctl-secret`, "
            "`x-gpuctl-cel` or `x-gpuctl-reader`?)");
}

TEST(Formats, KnowPathsOfSchemas) {
  const auto path = [](const std::string& name) {
    return findings("providers/lab/schema.yaml",
                    wrap("Schema", "  fields:\n    " + name + ": {type: string}\n"));
  };
  const std::string broken =
      "Schema: `spec.fields` does not meet a rule of its schema: paths are written as "
      "`spec.gpuPools[].name`";
  EXPECT_EQ(path("spec.gpuPools[].name"), "");
  EXPECT_EQ(path("spec.grid[][]"), "");
  EXPECT_EQ(path("spec..name"), broken);
  EXPECT_EQ(path("spec.gpuPools[]name"), broken);
  EXPECT_EQ(path("spec.gpuPools[0]"), broken);
  EXPECT_EQ(path("spec.name."), broken);
}

}  // namespace
}  // namespace gpuctl::catalog
