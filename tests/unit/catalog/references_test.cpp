#include "catalog/references.hpp"

#include "support/knowledge.hpp"

namespace gpuctl::catalog {
namespace {

using testing::Files;
using testing::Lab;
using testing::lab;
using testing::wrap;

// What is wrong with two tables: the head of one, and what a column of its one row holds.
std::string findings(const std::string& head, const std::string& cell) {
  Files files = lab();
  files["providers/lab/tables/one.yaml"] =
      wrap("Table",
           "  key: name\n  columns:\n    name: {type: string}\n"
           "    a: {x-kubernetes-preserve-unknown-fields: true}\n"
           "    list: {type: array, items: {type: object, properties: {a: {type: string}}}}\n"
           "    map: {type: object, additionalProperties: {type: object, properties: {a: {type: "
           "string}}}}\n" +
               head + "  rows:\n    - {name: x, " + cell + "}\n",
           "one");
  files["providers/lab/tables/other.yaml"] =
      wrap("Table",
           "  key: name\n  columns: {name: {type: string}, number: {type: integer}}\n"
           "  rows: [{name: red, number: 1}, {name: blue, number: 2}]\n",
           "other");
  Lab made(files);
  std::string out;
  for (const diag::Diagnostic& one : made.sink.all()) {
    EXPECT_EQ(one.code, "GPU0402") << one.message;
    out += (out.empty() ? "" : "; ") + one.message + (one.primary.text.empty() ? "" : ": ") +
           one.primary.text;
  }
  return out;
}

TEST(References, OfColumnsItemsKeysAndFields) {
  const auto of = [](const std::string& reference, const std::string& cell) {
    return findings("  references: {" + reference + "}\n", cell);
  };
  EXPECT_EQ(of("a: other", "a: red"), "");
  EXPECT_EQ(of("a: other", "a: rod"), "`a` of table `one` names no row of `other`: no `rod` there");
  EXPECT_EQ(of("a: other.number", "a: 2"), "");
  EXPECT_EQ(of("a: other.number", "a: 3"),
            "`a` of table `one` names no row of `other.number`: no `3` there");
  EXPECT_EQ(of("a: [other, one]", "a: x"), "");
  EXPECT_EQ(of("\"list[].a\": other", "list: [{a: red}, {}, {a: rod}]"),
            "`list[].a` of table `one` names no row of `other`: no `rod` there");
  EXPECT_EQ(of("\"map{}\": other", "map: {red: {}, rod: {}}"),
            "`map{}` of table `one` names no row of `other`: no `rod` there");
  EXPECT_EQ(of("\"map.*.a\": other", "map: {k: {a: rod}}"),
            "`map.*.a` of table `one` names no row of `other`: no `rod` there");
}

TEST(References, MustBePossible) {
  EXPECT_EQ(findings("  references: {b: other}\n", "a: red"), "table `one` has no column `b`");
  EXPECT_EQ(findings("  references: {\"list[].b\": other}\n", "a: red"),
            "table `one` has no column `list[].b`");
  EXPECT_EQ(findings("  references: {a: others}\n", "a: red"), "no table `others`");
  EXPECT_EQ(findings("  references: {a: other.colour}\n", "a: red"),
            "table `other` has nothing at `colour`");
}

TEST(References, OfSources) {
  const std::string head =
      "    source: {type: string}\n  sources: {here: {own: x}, there: {own: z z}}\n";
  EXPECT_EQ(findings(head, "source: here; there"), "");
  EXPECT_EQ(findings(head, "source: here; nowhere"), "no source `nowhere` in table `one`");
}

}  // namespace
}  // namespace gpuctl::catalog
