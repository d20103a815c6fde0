// Defaulting as apiextensions-apiserver does it.
#include <ostream>

#include "schema/compiled.hpp"
#include "support.hpp"

namespace gpuctl::schema {
namespace {

struct Case {
  const char* name;
  const char* schema;
  const char* document;
  const char* own;        // filled in, schema of ours
  const char* published;  // filled in, schema of a CRD; nullptr: the same
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}
std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

class Defaults : public testing::TestWithParam<Case> {};

TEST_P(Defaults, AreFilledIn) {
  Bench bench;
  const yaml::Node definition = bench.read(GetParam().schema);
  const yaml::Node document = bench.read(GetParam().document);
  diag::Sink sink;
  const SchemaPtr own = compile(definition, bench.sources, sink);
  EXPECT_EQ(yaml::emit_json(apply_defaults(*own, document, bench.arena)), GetParam().own);
  const SchemaPtr published = compile_published(
      bench.arena.map(std::vector<yaml::Entry>{
          bench.arena.entry("type", yaml::Node::view("object")),
          bench.arena.entry("properties", bench.arena.map(std::vector<yaml::Entry>{
                                              bench.arena.entry("it", definition)}))}),
      bench.sources, "Kind");
  const yaml::Node wrapped =
      bench.arena.map(std::vector<yaml::Entry>{bench.arena.entry("it", document)});
  EXPECT_EQ(yaml::emit_json(apply_defaults(*published, wrapped, bench.arena).get("it")),
            GetParam().published == nullptr ? GetParam().own : GetParam().published);
}

constexpr const char* kSimple =
    "type: object\n"
    "properties:\n"
    "  a: {type: integer, default: 1}\n"
    "  b: {type: string}\n"
    "  c: {type: string, default: x, nullable: true}\n";
constexpr const char* kNested =
    "type: object\n"
    "properties:\n"
    "  outer:\n"
    "    type: object\n"
    "    default: {}\n"
    "    properties:\n"
    "      inner: {type: object, default: {p: 1}, properties: {p: {type: integer}, q: {type: "
    "integer, default: 2}}}\n"
    "  plain:\n"
    "    type: object\n"
    "    properties: {z: {type: integer, default: 3}}\n";
constexpr const char* kLists =
    "type: object\n"
    "properties:\n"
    "  l: {type: array, items: {type: object, properties: {v: {type: integer, default: 5}}}}\n"
    "  d: {type: array, items: {type: integer, default: 7}}\n"
    "  m: {type: array, items: {type: integer}}\n";
constexpr const char* kMap =
    "type: object\n"
    "additionalProperties: {type: object, default: {w: 9}, properties: {v: {type: integer, "
    "default: 5}, w: {type: integer}}}\n";

const Case kCases[] = {
    {"absent", kSimple, "{b: z}", R"({"b":"z","a":1,"c":"x"})", nullptr},
    {"present", kSimple, "{a: 3, c: z}", R"({"a":3,"c":"z"})", nullptr},
    {"null_with_default", kSimple, "{a: null, c: z}", R"({"a":1,"c":"z"})", nullptr},
    {"null_where_nullable", kSimple, "{a: 2, c: null}", R"({"a":2,"c":null})", nullptr},
    {"null_without_default", kSimple, "{a: 2, b: null, c: z}", R"({"a":2,"b":null,"c":"z"})",
     R"({"a":2,"c":"z"})"},
    {"default_is_completed", kNested, "{}", R"({"outer":{"inner":{"p":1,"q":2}}})", nullptr},
    {"existing_is_completed", kNested, "{outer: {inner: {q: 8}}, plain: {}}",
     R"({"outer":{"inner":{"q":8}},"plain":{"z":3}})", nullptr},
    {"absent_without_default_stays_absent", kNested, "{outer: {inner: {p: 0, q: 0}}}",
     R"({"outer":{"inner":{"p":0,"q":0}}})", nullptr},
    {"items", kLists, "{l: [{}, {v: 1}, {}]}", R"({"l":[{"v":5},{"v":1},{"v":5}]})", nullptr},
    {"null_items_with_default", kLists, "{d: [null, 1]}", R"({"d":[7,1]})", nullptr},
    {"null_items_without_default", kLists, "{m: [null, 1]}", R"({"m":[null,1]})", nullptr},
    {"map_values", kMap, "{x: {}, u: null, z: {v: 1}}",
     R"({"x":{"v":5},"u":{"w":9,"v":5},"z":{"v":1}})", nullptr},
    {"unknown_fields_are_left", kSimple, "{a: 1, c: x, u: {a: null}}",
     R"({"a":1,"c":"x","u":{"a":null}})", nullptr},
    {"null_default_is_none",
     "type: object\nproperties: {a: {type: string, nullable: true, default: null}}", "{}", "{}",
     nullptr},
    {"wrong_shape_is_left", kNested, "{outer: [1]}", R"({"outer":[1]})", nullptr},
};
INSTANTIATE_TEST_SUITE_P(All, Defaults, testing::ValuesIn(kCases), name_of);

TEST(DefaultOrigins, WrittenValuesKeepTheirsAndDefaultsHaveTheSchemas) {
  Bench bench;
  const SchemaPtr schema = bench.schema(kSimple);
  const yaml::Node filled = apply_defaults(*schema, bench.read("b: z\n"), bench.arena);
  EXPECT_EQ(bench.sources.text(filled.get("b").origin()), "z");
  const diag::Span* span = bench.sources.span(filled.get("a").origin());
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(bench.sources.file_name(span->file), "schema.yaml");
}

TEST(DefaultOrigins, DefaultsOfCrdsHaveNone) {
  Bench bench;
  const SchemaPtr schema = compile_published(bench.read(kSimple), bench.sources, "Kind");
  const yaml::Node filled = apply_defaults(*schema, bench.read("{}\n"), bench.arena);
  EXPECT_EQ(filled.get("a").as_integer(), 1);
  EXPECT_EQ(filled.get("a").origin(), diag::kNoOrigin);
}

TEST(DefaultOrigins, AnUnchangedDocumentIsNotCopied) {
  Bench bench;
  const SchemaPtr schema = bench.schema(kSimple);
  const yaml::Node document = bench.read("{a: 1, c: x}");
  const yaml::Node filled = apply_defaults(*schema, document, bench.arena);
  EXPECT_EQ(filled.entries().data(), document.entries().data());
}

TEST(DefaultsAndValidation, RequiredFieldsWithDefaultMayBeAbsent) {
  Bench bench;
  bench.check("type: object\nrequired: [a]\nproperties: {a: {type: integer, default: 1}}", "{}");
  EXPECT_EQ(bench.found(), "");
}

TEST(DefaultsAndValidation, NullsThatTheApiServerDropsAreWarnings) {
  Bench bench;
  const SchemaPtr schema = compile_published(
      bench.read(
          "type: object\nproperties: {spec: {type: object, required: [r], properties: {o: {type: "
          "string}, r: {type: string}}}}"),
      bench.sources, "Kind");
  validate(*schema, bench.read("spec: {o: null, r: x}\n"), bench.arena, bench.sources, bench.sink);
  EXPECT_EQ(bench.found(), "GPU0209 [null] `spec.o` is null\n");
  EXPECT_FALSE(bench.sink.has_errors());
  validate(*schema, bench.read("spec: {r: null}\n"), bench.arena, bench.sources, bench.sink);
  EXPECT_TRUE(bench.sink.has_errors()) << "a dropped null is an absent field";
}

}  // namespace
}  // namespace gpuctl::schema
