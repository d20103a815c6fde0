// Faults in schemas, and merging fragments.
#include <ostream>

#include "support.hpp"

namespace gpuctl::schema {
namespace {

struct Fault {
  const char* name;
  const char* schema;
  const char* findings;
};
void PrintTo(const Fault& c, std::ostream* out) {
  *out << c.name;
}
std::string name_of(const testing::TestParamInfo<Fault>& info) {
  return info.param.name;
}

class Faults : public testing::TestWithParam<Fault> {};

TEST_P(Faults, AreFound) {
  Bench bench;
  ASSERT_NE(compile(bench.read(GetParam().schema), bench.sources, bench.sink), nullptr);
  EXPECT_EQ(bench.found(), GetParam().findings);
}

const Fault kFaults[] = {
    {"no_map", "[1]", "GPU0211 [[1]] the schema: a schema is a map, this is a list\n"},
    {"unknown_keyword", "type: object\nproperty: {}\n",
     "GPU0211 [property] the schema: unknown keyword `property`\n"},
    {"foreign_extension", "type: object\nx-other: {}\nx-gpuctl-obtain: z\n", ""},
    {"unknown_type", "type: text\n",
     "GPU0211 [text] the schema: `type` must be object, array, string, integer, number or "
     "boolean\n"},
    {"type_missing", "type: object\nproperties: {a: {minimum: 3}}\n",
     "GPU0211 [{minimum: 3}] schema of `a`: `type` is missing\n"},
    {"type_missing_in_branch", "type: integer\nanyOf: [{minimum: 3}]\n", ""},
    {"items_missing", "type: object\nproperties: {a: {type: array}}\n",
     "GPU0211 [{type: array}] schema of `a`: `items` is missing in a schema of type array\n"},
    {"bad_count", "type: string\nmaxLength: -1\n",
     "GPU0211 [-1] the schema: `maxLength` must be a whole number of at least 0\n"},
    {"bad_limit", "type: integer\nminimum: low\n",
     "GPU0211 [low] the schema: `minimum` must be a number\n"},
    {"bad_required", "type: object\nrequired: a\n",
     "GPU0211 [a] the schema: `required` must be a list of strings\n"},
    {"required_unknown", "type: object\nrequired: [nmae]\nproperties: {name: {type: string}}\n",
     "GPU0211 [type: object] the schema: required field `nmae` is not among the properties\n"},
    {"list_map_keys_missing", "{type: array, items: {type: string}, x-kubernetes-list-type: map}",
     "GPU0211 [{type: array, items: {type: string}, x-kubernetes-list-type: map}] the schema: "
     "`x-kubernetes-list-map-keys` is missing in a list of type map\n"
     "GPU0211 [items] the schema: `items` of a list of type map must be objects\n"},
    {"bad_list_type", "{type: array, items: {type: string}, x-kubernetes-list-type: bag}",
     "GPU0211 [bag] the schema: `x-kubernetes-list-type` must be atomic, set or map\n"},
    {"bad_rules", "type: string\nx-kubernetes-validations: [{message: x}]\n",
     "GPU0211 [[{message: x}]] the schema: `x-kubernetes-validations` must be a list of maps, each "
     "with a `rule`\n"},
    {"unknown_rule_keyword", "type: string\nx-kubernetes-validations: [{rule: 'true', text: x}]\n",
     "GPU0211 [text] the schema: unknown keyword `text` of a rule\n"},
    {"default_does_not_fit", "type: object\nproperties: {a: {type: integer, default: x}}\n",
     "GPU0211 [x] schema of `a`: its default does not fit: wrong type for the document\n"},
    {"default_fits_with_defaults",
     "type: object\nproperties: {a: {type: object, required: [b], default: {}, properties: {b: "
     "{type: integer, default: 1}}}}\n",
     ""},
    {"empty_enum", "type: string\nenum: []\n",
     "GPU0211 [[]] the schema: `enum` must be a list of values\n"},
};
INSTANTIATE_TEST_SUITE_P(All, Faults, testing::ValuesIn(kFaults), name_of);

TEST(Faults, KeywordsAreSuggested) {
  Bench bench;
  compile(bench.read("type: object\nproperty: {}\nrequire: [a]\n"), bench.sources, bench.sink);
  ASSERT_EQ(bench.sink.all().size(), 2U);
  EXPECT_EQ(bench.sink.all()[1].help, std::vector<std::string>{"did you mean `required`?"});
}

TEST(Faults, DepthIsBounded) {
  Bench bench;
  yaml::Node deep = bench.read("type: string");
  for (int i = 0; i < 1000; ++i) {
    const std::vector<yaml::Entry> entries = {bench.arena.entry("type", yaml::Node::view("array")),
                                              bench.arena.entry("items", deep)};
    deep = bench.arena.map(entries);
  }
  compile(deep, bench.sources, bench.sink);
  ASSERT_EQ(bench.sink.all().size(), 1U);
  EXPECT_EQ(bench.sink.all().front().code, "GPU0211");
}

yaml::Node merge(Bench& bench, std::initializer_list<const char*> texts) {
  std::vector<yaml::Node> fragments;
  for (const char* text : texts) fragments.push_back(bench.read(text));
  return merge_fragments(fragments, bench.arena, bench.sink);
}

TEST(Merge, MapsKeyByKeyAndListsOneAfterTheOther) {
  Bench bench;
  const yaml::Node merged = merge(
      bench,
      {"type: object\nrequired: [a]\nproperties: {a: {type: string, enum: [x]}, s: {type: object, "
       "properties: {p: {type: string}}}}\nx-kubernetes-validations: [{rule: r1}]\n",
       "type: object\nrequired: [b, a]\nproperties: {b: {type: string}, a: {enum: [z, x]}, s: "
       "{properties: {q: {type: integer}}, required: [q]}}\nx-kubernetes-validations: [{rule: "
       "r2}]\n"});
  EXPECT_EQ(bench.found(), "");
  EXPECT_EQ(yaml::emit_json(merged),
            R"({"type":"object","required":["a","b"],"properties":{"a":{"type":"string",)"
            R"("enum":["x","z"]},"s":{"type":"object","properties":{"p":{"type":"string"},)"
            R"("q":{"type":"integer"}},"required":["q"]},"b":{"type":"string"}},)"
            R"("x-kubernetes-validations":[{"rule":"r1"},{"rule":"r2"}]})");
}

TEST(Merge, ContradictionsPointAtBothPlaces) {
  Bench bench;
  merge(bench, {"type: object\nproperties:\n  spec:\n    type: object\n    properties:\n      x: "
                "{type: string}\n",
                "properties:\n  spec:\n    properties:\n      x: {type: integer}\n"});
  EXPECT_EQ(bench.found(),
            "GPU0210 [integer] schema fragments contradict each other at `spec.x.type`\n");
  ASSERT_EQ(bench.sink.all().size(), 1U);
  const diag::Diagnostic& finding = bench.sink.all().front();
  ASSERT_EQ(finding.secondary.size(), 1U);
  EXPECT_EQ(bench.sources.text(finding.secondary.front().at), "string");
}

TEST(Merge, FieldsNamedLikeKeywordsAreNoKeywords) {
  Bench bench;
  const yaml::Node merged =
      merge(bench, {"properties: {required: {type: boolean}, properties: {type: object}}",
                    "properties: {required: {default: true}, properties: {required: [a]}}"});
  EXPECT_EQ(bench.found(), "");
  EXPECT_EQ(yaml::emit_json(merged),
            R"({"properties":{"required":{"type":"boolean","default":true},)"
            R"("properties":{"type":"object","required":["a"]}}})");
}

TEST(Merge, OtherListsMustBeEqual) {
  Bench bench;
  merge(bench, {"oneOf: [{required: [a]}]", "oneOf: [{required: [a]}]"});
  EXPECT_EQ(bench.found(), "");
  merge(bench, {"oneOf: [{required: [a]}]", "oneOf: [{required: [b]}]"});
  EXPECT_EQ(bench.sink.error_count(), 1U);
}

TEST(Merge, NothingAndNoMaps) {
  Bench bench;
  EXPECT_TRUE(merge(bench, {}).is_null());
  merge(bench, {"type: object", "[1]"});
  EXPECT_EQ(bench.found(), "GPU0211 [[1]] a schema fragment must be a map\n");
}

}  // namespace
}  // namespace gpuctl::schema
