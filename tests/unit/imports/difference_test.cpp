#include "imports/difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "render_merge.hpp"
#include "support/knowledge.hpp"

namespace gpuctl::imports {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> paths(const std::string& wanted, const std::string& made) {
  testing::Lab lab;
  std::vector<std::string> out;
  for (const Difference& difference : differences(lab.parse(wanted), lab.parse(made))) {
    out.push_back(difference.path);
  }
  return out;
}

TEST(Difference, NamesEachPlaceOnce) {
  EXPECT_THAT(paths("a: 1\nb: {c: [1, 2]}\n", "b: {c: [1, 2]}\na: 1\n"), IsEmpty());
  EXPECT_THAT(paths("a: 1\nb: {c: [1, 2]}\n", "a: 2\nb: {c: [1, 3]}\n"),
              ElementsAre("a", "b.c[1]"));
  EXPECT_THAT(paths("b: {c: [1, 2]}\n", "b: {c: [1]}\n"), ElementsAre("b.c"));
  EXPECT_THAT(paths("a: {x.y/z: 1}\n", "a: {}\n"), ElementsAre("a[\"x.y/z\"]"));
  EXPECT_THAT(paths("a: 1\n", "a: 1\nmore: {b: 2}\n"), ElementsAre("more"));
}

TEST(Difference, TakesNullForAbsentAndTextForText) {
  EXPECT_THAT(paths("a: null\n", "b: null\n"), IsEmpty());
  EXPECT_THAT(paths("a: \"1\"\n", "a: 1\n"), ElementsAre("a"));
}

TEST(Difference, LetsToolsAddAnnotations) {
  EXPECT_THAT(paths("metadata: {name: x}\n", "metadata: {name: x, annotations: {a: b}}\n"),
              IsEmpty());
  EXPECT_THAT(paths("metadata: {annotations: {c: d}}\n", "metadata: {annotations: {a: b, c: d}}\n"),
              IsEmpty());
  EXPECT_THAT(paths("metadata: {annotations: {c: d}}\n", "metadata: {annotations: {c: e}}\n"),
              ElementsAre("metadata.annotations.c"));
  EXPECT_THAT(paths("spec: {}\n", "spec: {annotations: {a: b}}\n"),
              ElementsAre("spec.annotations"));
}

TEST(Difference, LooksIntoTextsThatHoldJson) {
  EXPECT_THAT(paths("a: '{\"b\": [1, 2]}'\n", "a: '{\"b\":[1,2]}'\n"), IsEmpty());
  EXPECT_THAT(paths("a: '{\"b\": [1, 2]}'\n", "a: '{\"b\":[1,3]}'\n"), ElementsAre("a"));
  EXPECT_THAT(paths("a: '{b}'\n", "a: '{ b }'\n"), IsEmpty());
  EXPECT_THAT(paths("a: '{{b}}'\n", "a: '{{ b }}'\n"), ElementsAre("a"));
}

TEST(Difference, LooksIntoTextsThatHoldYaml) {
  EXPECT_THAT(paths("data: {f: \"a: 1\\nb: 2\\n\"}\n", "data: {f: \"b: 2\\na:   1\\n\"}\n"),
              IsEmpty());
  EXPECT_THAT(paths("data: {f: \"a: 1\\nb: 2\\n\"}\n", "data: {f: \"a: 1\\nb: 3\\n\"}\n"),
              ElementsAre("data.f"));
  EXPECT_THAT(paths("data: {f: \"one\\ntwo\\n\"}\n", "data: {f: \"one\\n two\\n\"}\n"),
              ElementsAre("data.f"));
}

TEST(Difference, CountsLeaves) {
  testing::Lab lab;
  EXPECT_EQ(leaves(lab.parse("a: {b: 1, c: [1, 2], d: {}, e: []}\n")), 5U);
}

// A patch on one side gives the other, whatever the two are.
TEST(Difference, PatchesBring) {
  const std::vector<std::string> documents = {
      "{}\n",
      "a: 1\n",
      "a: {b: 1, c: {d: [1, 2]}}\n",
      "a: {b: 2, c: {d: [1]}, e: x}\n",
      "a: [1]\n",
      "a: {b: {c: {d: e}}}\n",
      "metadata: {name: x, annotations: {t: u}}\na: {}\n",
      "metadata: {name: yy, annotations: {v: w}}\na: {c: {}}\n",
  };
  for (const std::string& from : documents) {
    for (const std::string& to : documents) {
      testing::Lab lab;
      const yaml::Node wanted = lab.parse(to);
      const yaml::Node made = lab.parse(from);
      const yaml::Node patch = patch_between(wanted, made, lab.library->arena());
      if (differences(wanted, made).empty()) {
        EXPECT_TRUE(patch.is_null()) << from << to;
        continue;
      }
      const yaml::Node patched = testing::merged(made, patch, lab.library->arena());
      EXPECT_THAT(differences(wanted, patched), IsEmpty())
          << from << to << yaml::emit_json(patch) << yaml::emit_json(patched);
    }
  }
}

}  // namespace
}  // namespace gpuctl::imports
