// What the API server would refuse a CRD for, and schemas of ours with it.
#include <ostream>

#include "schema/compiled.hpp"
#include "schema/field_path.hpp"
#include "support.hpp"

namespace gpuctl::schema {
namespace {

struct Case {
  const char* name;
  const char* schema;  // of the field `a`
  const char* fault;   // part of the message; empty when there is none
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class Structure : public testing::TestWithParam<Case> {};

TEST_P(Structure, IsChecked) {
  Bench bench;
  const std::string text =
      "type: object\nproperties: {a: " + std::string(GetParam().schema) + "}\n";
  const yaml::Node definition = bench.read(text);
  const SchemaPtr published = compile_published(definition, bench.sources, "Kind");
  const Survey found = survey(*published);
  diag::Sink own;
  compile(definition, bench.sources, own);
  if (*GetParam().fault == 0) {
    EXPECT_TRUE(found.faults.empty()) << found.faults.front();
    EXPECT_TRUE(own.empty());
    return;
  }
  ASSERT_FALSE(found.faults.empty());
  EXPECT_NE(found.faults.front().find(GetParam().fault), std::string::npos) << found.faults.front();
  ASSERT_FALSE(own.empty());
  EXPECT_EQ(own.all().front().code, "GPU0211");
  EXPECT_NE(bench.sources.text(own.all().front().primary.at), "");
}

const Case kCases[] = {
    {"plain", "{type: string}", ""},
    {"reference", "{type: object, $ref: '#/definitions/x'}", "`$ref` is not allowed"},
    {"definitions", "{type: object, definitions: {}}", "`definitions` is not allowed"},
    {"no_type", "{}", "`type` is missing"},
    {"type_in_any_of", "{type: string, anyOf: [{type: string}]}", "`type` must not stand inside"},
    {"int_or_string",
     "{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", ""},
    {"int_or_string_in_all_of",
     "{x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}]}]}", ""},
    {"default_in_all_of", "{type: string, allOf: [{default: x}]}",
     "`default` must not stand inside"},
    {"fields_and_values",
     "{type: object, properties: {b: {type: string}}, additionalProperties: {type: string}}",
     "exclude each other"},
    {"embedded_text", "{type: string, x-kubernetes-embedded-resource: true}",
     "needs the type object"},
    {"set_of_objects", "{type: array, x-kubernetes-list-type: set, items: {type: object}}",
     "x-kubernetes-map-type: atomic"},
    {"optional_key",
     "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: {type: "
     "object, properties: {b: {type: string}}}}",
     "must be required or have a default"},
    {"empty_rule", "{type: string, x-kubernetes-validations: [{rule: ' '}]}", "is empty"},
    {"unknown_reason", "{type: string, x-kubernetes-validations: [{rule: 'true', reason: Why}]}",
     "`reason` must be FieldValueInvalid"},
    {"message_of_two_lines",
     "{type: string, x-kubernetes-validations: [{rule: 'true', message: \"a\\nb\"}]}",
     "`message` must be one line"},
    {"path_to_nowhere",
     "{type: object, properties: {b: {type: string}}, x-kubernetes-validations: [{rule: 'true', "
     "fieldPath: .c}]}",
     "there is no field `c`"},
    {"path_that_is_none",
     "{type: object, properties: {b: {type: string}}, x-kubernetes-validations: [{rule: 'true', "
     "fieldPath: b}]}",
     "it is no path"},
    {"default_that_does_not_fit", "{type: integer, minimum: 3, default: 1}", "out of range"},
};
INSTANTIATE_TEST_SUITE_P(All, Structure, testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

// Restrictions of a schema of ours must speak of declared fields; the API server asks for that from
// the root only.
TEST(Structures, UndeclaredFields) {
  constexpr const char* kSchema =
      "type: object\nproperties: {a: {type: object, properties: {b: {type: string}}, anyOf: "
      "[{properties: {c: {pattern: x}}}]}}\n";
  Bench bench;
  const yaml::Node definition = bench.read(kSchema);
  EXPECT_TRUE(survey(*compile_published(definition, bench.sources, "Kind")).faults.empty());
  diag::Sink own;
  compile(definition, bench.sources, own);
  ASSERT_EQ(own.all().size(), 1U);
  EXPECT_NE(own.all().front().message.find("`c`, which is not declared"), std::string::npos);
}

// A published schema with a fault is used as far as it goes, and the fault is told.
TEST(Structures, FaultsOfPublishedSchemasAreNotes) {
  Bench bench;
  const SchemaPtr schema = compile_published(
      bench.read("type: object\nproperties: {a: {$ref: x}, b: {type: integer}}\n"), bench.sources,
      "Kind");
  validate(*schema, bench.read("{a: {any: thing}, b: x}\n"), bench.arena, bench.sources,
           bench.sink);
  EXPECT_EQ(bench.found(),
            "GPU0212 [$ref] part of the schema of `Kind` at `a` is not checked\n"
            "GPU0202 [x] wrong type for `b`\n");
}

TEST(FieldPath, IsParsed) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(parse_field_path(".a.b-c"), (Names{"a", "b-c"}));
  EXPECT_EQ(parse_field_path("['a.b'].c['d\\'e\\\\']"), (Names{"a.b", "c", "d'e\\"}));
  EXPECT_EQ(parse_field_path(""), Names{});
  for (const char* bad :
       {"a", ".", ".a.", "..a", ".a[0]", "['a", "['a'", "['a\\q']", ".a]", "[a]"}) {
    EXPECT_EQ(parse_field_path(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace gpuctl::schema
