// Every keyword accepts what it should and refuses the rest, with code, place and message.
#include <ostream>

#include "support.hpp"

namespace gpuctl::schema {
namespace {

struct Case {
  const char* name;
  const char* schema;
  const char* document;
  const char* findings;  // as Bench::found() writes them; empty when the document is right
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class Keywords : public testing::TestWithParam<Case> {};

TEST_P(Keywords, JudgesTheDocument) {
  Bench bench;
  bench.check(GetParam().schema, GetParam().document);
  EXPECT_EQ(bench.found(), GetParam().findings) << GetParam().document;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

constexpr const char* kThing =
    "type: object\n"
    "required: [name]\n"
    "properties:\n"
    "  name: {type: string}\n"
    "  size: {type: integer}\n"
    "  inner: {type: object, required: [a], properties: {a: {type: string}}}\n"
    "  list: {type: array, items: {type: object, required: [k], properties: {k: {type: "
    "string}}}}\n";

const Case kObjects[] = {
    {"object_accepts", kThing, "name: x\nsize: 3\ninner: {a: b}\nlist: [{k: v}]\n", ""},
    {"unknown_field", kThing, "name: x\nsise: 3\n", "GPU0201 [sise] unknown field `sise`\n"},
    {"unknown_nested", kThing, "name: x\nlist: [{k: v}, {k: w, q: 1}]\n",
     "GPU0201 [q] unknown field `list[1].q`\n"},
    {"missing_at_root", kThing, "size: 3\n", "GPU0203 [size] missing required field `name`\n"},
    {"missing_in_map", kThing, "name: x\ninner: {}\n",
     "GPU0203 [inner] missing required field `inner.a`\n"},
    {"missing_in_item", kThing, "name: x\nlist:\n  - k: v\n  - {}\n",
     "GPU0203 [{}] missing required field `list[1].k`\n"},
    {"several_at_once", kThing, "size: big\ninner: 3\nfoo: 1\n",
     "GPU0202 [big] wrong type for `size`\n"
     "GPU0202 [3] wrong type for `inner`\n"
     "GPU0201 [foo] unknown field `foo`\n"
     "GPU0203 [size] missing required field `name`\n"},
    {"null_refused", kThing, "name: x\nsize: null\n", "GPU0209 [null] `size` must not be null\n"},
    {"null_allowed", "type: object\nproperties: {a: {type: string, nullable: true}}", "a: null\n",
     ""},
    {"null_in_list", "type: object\nproperties: {a: {type: array, items: {type: string}}}",
     "a: [x, null]\n", "GPU0209 [null] `a[1]` must not be null\n"},
    {"map_accepts", "type: object\nadditionalProperties: {type: integer}", "a: 1\nb: 2\n", ""},
    {"map_refuses", "type: object\nadditionalProperties: {type: integer}", "a: 1\n\"b/c\": x\n",
     "GPU0202 [x] wrong type for `[\"b/c\"]`\n"},
    {"additional_true", "type: object\nadditionalProperties: true", "a: 1\nb: [x]\n", ""},
    {"additional_false", "type: object\nadditionalProperties: false", "a: 1\n",
     "GPU0201 [a] unknown field `a`\n"},
    {"preserve_unknown",
     "type: object\nx-kubernetes-preserve-unknown-fields: true\nproperties: {a: {type: integer}}",
     "b: {c: 1}\na: x\n", "GPU0202 [x] wrong type for `a`\n"},
    {"preserve_without_type", "x-kubernetes-preserve-unknown-fields: true", "[1, {a: b}]", ""},
    {"min_properties", "type: object\nadditionalProperties: true\nminProperties: 2", "a: 1\n",
     "GPU0205 [a] too few fields in the document\n"},
    {"max_properties",
     "type: object\nproperties: {m: {type: object, additionalProperties: true, maxProperties: 1}}",
     "m: {a: 1, b: 2}\n", "GPU0205 [m] too many fields in `m`\n"},
};
INSTANTIATE_TEST_SUITE_P(Objects, Keywords, testing::ValuesIn(kObjects), name_of);

const Case kTypes[] = {
    {"string_refuses_number", "type: object\nproperties: {v: {type: string}}", "v: 4.20\n",
     "GPU0202 [4.20] wrong type for `v`\n"},
    {"string_refuses_boolean", "type: object\nproperties: {v: {type: string}}", "v: true\n",
     "GPU0202 [true] wrong type for `v`\n"},
    {"integer_takes_whole_real", "type: integer", "1.0", ""},
    {"integer_refuses_real", "type: integer", "1.5", "GPU0202 [1.5] wrong type for the document\n"},
    {"integer_refuses_string", "type: integer", "\"3\"",
     "GPU0202 [\"3\"] wrong type for the document\n"},
    {"number_takes_integer", "type: number", "3", ""},
    {"number_takes_real", "type: number", "3.5", ""},
    {"number_refuses_string", "type: number", "three",
     "GPU0202 [three] wrong type for the document\n"},
    {"boolean_takes_boolean", "type: boolean", "false", ""},
    {"boolean_refuses_integer", "type: boolean", "1", "GPU0202 [1] wrong type for the document\n"},
    {"array_refuses_map", "type: object\nproperties: {l: {type: array, items: {type: string}}}",
     "l: {a: b}\n", "GPU0202 [l] wrong type for `l`\n"},
    {"array_refuses_scalar", "type: object\nproperties: {l: {type: array, items: {type: string}}}",
     "l: a\n", "GPU0202 [a] wrong type for `l`\n"},
    {"int_or_string_integer", "x-kubernetes-int-or-string: true", "3", ""},
    {"int_or_string_string", "x-kubernetes-int-or-string: true", "\"50%\"", ""},
    {"int_or_string_boolean",
     "x-kubernetes-int-or-string: true\nanyOf: [{type: integer}, {type: string}]", "true",
     "GPU0202 [true] wrong type for the document\n"},
    {"int_or_string_pattern", "x-kubernetes-int-or-string: true\npattern: '^[0-9]+%$'", "\"5\"",
     "GPU0205 [\"5\"] value of the document does not match its pattern\n"},
    {"enum_accepts", "type: string\nenum: [single, mixed]", "mixed", ""},
    {"enum_refuses", "type: string\nenum: [single, mixed]", "mixd",
     "GPU0204 [mixd] `mixd` is not an allowed value of the document\n"},
    {"enum_of_numbers", "type: integer\nenum: [1, 2, 4]", "3",
     "GPU0204 [3] the document has none of the allowed values\n"},
    {"enum_by_value", "type: number\nenum: [1, 2]", "2.0", ""},
};
INSTANTIATE_TEST_SUITE_P(Types, Keywords, testing::ValuesIn(kTypes), name_of);

const Case kBounds[] = {
    {"minimum_accepts", "type: integer\nminimum: 3", "3", ""},
    {"minimum_refuses", "type: integer\nminimum: 3", "2",
     "GPU0205 [2] value of the document is out of range\n"},
    {"maximum_accepts", "type: integer\nmaximum: 3", "3", ""},
    {"maximum_refuses", "type: integer\nmaximum: 3", "4",
     "GPU0205 [4] value of the document is out of range\n"},
    {"maximum_beyond_doubles", "type: integer\nmaximum: 9007199254740992", "9007199254740993",
     "GPU0205 [9007199254740993] value of the document is out of range\n"},
    {"exclusive_flag", "type: integer\nminimum: 3\nexclusiveMinimum: true", "3",
     "GPU0205 [3] value of the document is out of range\n"},
    {"exclusive_flag_first", "type: integer\nexclusiveMaximum: true\nmaximum: 3", "3",
     "GPU0205 [3] value of the document is out of range\n"},
    {"exclusive_number", "type: number\nexclusiveMaximum: 1", "1.0",
     "GPU0205 [1.0] value of the document is out of range\n"},
    {"exclusive_accepts", "type: number\nexclusiveMaximum: 1", "0.99", ""},
    {"multiple_accepts", "type: integer\nmultipleOf: 8", "64", ""},
    {"multiple_refuses", "type: integer\nmultipleOf: 8", "60",
     "GPU0205 [60] value of the document is out of range\n"},
    {"multiple_of_real", "type: number\nmultipleOf: 0.1", "0.3", ""},
    {"int32_accepts", "type: integer\nformat: int32", "2147483647", ""},
    {"int32_refuses", "type: integer\nformat: int32", "2147483648",
     "GPU0205 [2147483648] value of the document is out of range\n"},
    {"min_length", "type: string\nminLength: 2", "a",
     "GPU0205 [a] value of the document is too short\n"},
    {"max_length", "type: string\nmaxLength: 2", "abc",
     "GPU0205 [abc] value of the document is too long\n"},
    {"length_in_code_points", "type: string\nmaxLength: 2", "äö", ""},
    {"pattern_unanchored", "type: string\npattern: b+", "abbc", ""},
    {"pattern_refuses", "type: string\npattern: ^b+$", "abbc",
     "GPU0205 [abbc] value of the document does not match its pattern\n"},
    {"min_items", "type: array\nitems: {type: integer}\nminItems: 1", "[]",
     "GPU0205 [[]] too few items in the document\n"},
    {"max_items",
     "type: object\nproperties: {l: {type: array, items: {type: integer}, maxItems: 1}}",
     "l: [1, 2]\n", "GPU0205 [l] too many items in `l`\n"},
};
INSTANTIATE_TEST_SUITE_P(Bounds, Keywords, testing::ValuesIn(kBounds), name_of);

constexpr const char* kEither =
    "type: object\n"
    "properties: {a: {type: string}, b: {type: string}, c: {type: integer}}\n"
    "oneOf: [{required: [a]}, {required: [b]}]\n";
constexpr const char* kShapes =
    "type: object\n"
    "properties: {kind: {type: string}, num: {type: integer}}\n"
    "oneOf:\n"
    "- {properties: {kind: {enum: [x]}, num: {maximum: 5}}}\n"
    "- {properties: {kind: {enum: [z]}, num: {minimum: 3}}, required: [num]}\n";

const Case kCombinations[] = {
    {"one_of_accepts", kEither, "a: x\nc: 1\n", ""},
    {"one_of_none", kEither, "c: 1\n",
     "GPU0206 [c] none of the fields `a`, `b` is set in the document\n"},
    {"one_of_both", kEither, "a: x\nb: z\n",
     "GPU0206 [a] the fields `a`, `b` exclude each other in the document\n"},
    {"one_of_keeps_unknown", kEither, "a: x\nd: 1\n", "GPU0201 [d] unknown field `d`\n"},
    {"one_of_shapes", kShapes, "kind: z\nnum: 4\n", ""},
    {"one_of_no_shape", kShapes, "kind: z\nnum: 2\n",
     "GPU0206 [kind] the document fits none of its 2 alternatives\n"},
    {"one_of_two_shapes", "type: integer\noneOf: [{minimum: 3}, {maximum: 5}]", "4",
     "GPU0206 [4] the document fits 2 of its 2 alternatives at once\n"},
    {"any_of_accepts", "type: integer\nanyOf: [{maximum: 3}, {minimum: 5}]", "7", ""},
    {"any_of_refuses", "type: integer\nanyOf: [{maximum: 3}, {minimum: 5}]", "4",
     "GPU0206 [4] the document fits none of its 2 alternatives\n"},
    {"all_of_accepts", "type: string\nallOf: [{minLength: 2}, {maxLength: 3}]", "abc", ""},
    {"all_of_refuses", "type: string\nallOf: [{minLength: 2}, {maxLength: 3}]", "abcd",
     "GPU0205 [abcd] value of the document is too long\n"},
    {"not_accepts", "type: string\nnot: {enum: [x]}", "z", ""},
    {"not_refuses", "type: string\nnot: {enum: [x]}", "x",
     "GPU0206 [x] the document is of a form that is not allowed\n"},
    {"not_required", "type: object\nproperties: {a: {type: string}}\nnot: {required: [a]}",
     "a: x\n", "GPU0206 [a] `a` must not be set here\n"},
};
INSTANTIATE_TEST_SUITE_P(Combinations, Keywords, testing::ValuesIn(kCombinations), name_of);

constexpr const char* kKeyed =
    "type: object\n"
    "properties:\n"
    "  l:\n"
    "    type: array\n"
    "    x-kubernetes-list-type: map\n"
    "    x-kubernetes-list-map-keys: [name, proto]\n"
    "    items:\n"
    "      type: object\n"
    "      required: [name]\n"
    "      properties:\n"
    "        name: {type: string}\n"
    "        proto: {type: string, default: TCP}\n"
    "        v: {type: integer}\n";
constexpr const char* kSet =
    "type: object\nproperties: {l: {type: array, x-kubernetes-list-type: set, "
    "items: {x-kubernetes-preserve-unknown-fields: true}}}";

const Case kLists[] = {
    {"keyed_accepts", kKeyed, "l: [{name: a, v: 1}, {name: b, v: 1}, {name: a, proto: UDP}]\n", ""},
    {"keyed_refuses", kKeyed, "l:\n- {name: a}\n- {name: b}\n- {name: a}\n",
     "GPU0207 [a] duplicate entry `name: a`, `proto: TCP` in `l`\n"},
    {"keyed_by_default", kKeyed, "l: [{name: a, proto: TCP}, {name: a}]\n",
     "GPU0207 [a] duplicate entry `name: a`, `proto: TCP` in `l`\n"},
    {"set_accepts", kSet, "l: [a, b, 1, \"1\", true]\n", ""},
    {"set_refuses", kSet, "l: [a, b, a]\n", "GPU0207 [a] duplicate entry `a` in `l`\n"},
    {"set_by_value", kSet, "l: [1, 1.0]\n", "GPU0207 [1.0] duplicate entry `1` in `l`\n"},
    {"set_of_maps", kSet, "l: [{a: 1, b: 2}, {b: 2, a: 1}]\n",
     "GPU0207 [b] duplicate entry `{\"a\":1,\"b\":2}` in `l`\n"},
    {"map_with_a_text",
     "type: array\nx-kubernetes-list-type: map\nx-kubernetes-list-map-keys: "
     "[name]\nitems: {type: object, required: [name], properties: {name: {type: string}}}",
     "[a, {name: b}, {name: b}]", "GPU0202 [a] wrong type for `[0]`\n"},
    {"set_three_times", kSet, "l: [a, a, a]\n", "GPU0207 [a] duplicate entry `a` in `l`\n"},
    {"unique_items", "type: array\nitems: {type: integer}\nuniqueItems: true", "[1, 2, 1]",
     "GPU0207 [1] duplicate entry `1` in the document\n"},
    {"atomic_keeps_duplicates",
     "type: array\nitems: {type: integer}\nx-kubernetes-list-type: atomic", "[1, 1]", ""},
};
INSTANTIATE_TEST_SUITE_P(Lists, Keywords, testing::ValuesIn(kLists), name_of);

constexpr const char* kResource =
    "type: object\n"
    "properties:\n"
    "  apiVersion: {type: string}\n"
    "  kind: {type: string}\n"
    "  metadata: {type: object}\n"
    "  spec: {type: object}\n";

const Case kMetadata[] = {
    {"metadata_accepts", kResource,
     "apiVersion: a/v1\nkind: K\nmetadata:\n  name: my.app-1\n  namespace: team-a\n"
     "  labels: {app.kubernetes.io/name: x, empty: \"\"}\n"
     "  annotations: {example.com/note: \"any text!\"}\n"
     "  creationTimestamp: null\n  finalizers: [a/b]\n"
     "  ownerReferences: [{apiVersion: v1, kind: K, name: nn, uid: u}]\n",
     ""},
    {"metadata_unknown", kResource, "metadata: {name: x, lables: {a: b}}\n",
     "GPU0201 [lables] unknown field `metadata.lables`\n"},
    {"metadata_name", kResource, "metadata: {name: My_App}\n",
     "GPU0205 [My_App] value of `metadata.name` does not match its pattern\n"},
    {"metadata_label_type", kResource, "metadata: {labels: {gpu: true}}\n",
     "GPU0202 [true] wrong type for `metadata.labels.gpu`\n"},
    {"metadata_label_value", kResource, "metadata: {labels: {gpu: \"a b\"}}\n",
     "GPU0205 [\"a b\"] value of `metadata.labels.gpu` does not match its pattern\n"},
    {"metadata_label_key", kResource, "metadata: {labels: {a/b/c: x}}\n",
     "GPU0205 [a/b/c] `a/b/c` cannot be a key of `metadata.labels`\n"},
    {"metadata_annotation_key", kResource, "metadata: {annotations: {-x: z}}\n",
     "GPU0205 [-x] `-x` cannot be a key of `metadata.annotations`\n"},
    {"metadata_owner", kResource, "metadata: {ownerReferences: [{kind: K, name: nn, uid: u}]}\n",
     "GPU0203 [kind] missing required field `metadata.ownerReferences[0].apiVersion`\n"},
    {"embedded_accepts",
     "type: object\nproperties:\n  t: {type: object, x-kubernetes-embedded-resource: true, "
     "properties: {spec: {type: object}}}\n",
     "t: {apiVersion: v1, kind: K, metadata: {name: x}, spec: {}}\n", ""},
    {"embedded_refuses",
     "type: object\nproperties:\n  t: {type: object, x-kubernetes-embedded-resource: true, "
     "properties: {spec: {type: object}}}\n",
     "t: {apiVersion: 1, kind: K, metadata: {nam: x}}\n",
     "GPU0202 [1] wrong type for `t.apiVersion`\n"
     "GPU0201 [nam] unknown field `t.metadata.nam`\n"},
    {"own_metadata_stays_own",
     "type: object\nproperties: {metadata: {type: object, properties: {name: {type: string}}}}",
     "metadata: {name: Any Name, labels: {}}\n",
     "GPU0201 [labels] unknown field `metadata.labels`\n"},
};
INSTANTIATE_TEST_SUITE_P(Metadata, Keywords, testing::ValuesIn(kMetadata), name_of);

TEST(Findings, UnknownFieldSaysWhatIsThere) {
  Bench bench;
  bench.check(kThing, "name: x\nsise: 3\n");
  ASSERT_EQ(bench.sink.all().size(), 1U);
  const diag::Diagnostic& finding = bench.sink.all().front();
  EXPECT_EQ(finding.expected, "one of `name`, `size`, `inner`, `list`");
  EXPECT_EQ(finding.help, std::vector<std::string>{"did you mean `size`?"});
}

TEST(Findings, MissingFieldQuotesTheDescription) {
  Bench bench;
  bench.check(
      "type: object\nrequired: [s]\nproperties: {s: {type: string, enum: [a, b], "
      "description: \"How to cut, e.g. single. More text.\"}}",
      "{}");
  ASSERT_EQ(bench.sink.all().size(), 1U);
  const diag::Diagnostic& finding = bench.sink.all().front();
  EXPECT_EQ(finding.expected, "one of string \"a\", string \"b\"");
  EXPECT_EQ(finding.notes, std::vector<std::string>{"`s`: How to cut, e.g. single"});
}

TEST(Findings, QuotingIsSuggestedWithTheWrittenText) {
  Bench bench;
  bench.check("type: object\nproperties: {v: {type: string}}", "v: 4.20\n");
  ASSERT_EQ(bench.sink.all().size(), 1U);
  EXPECT_EQ(bench.sink.all().front().help,
            std::vector<std::string>{"put it in quotes: `\"4.20\"`"});
  EXPECT_EQ(bench.sink.all().front().expected, "string");
  EXPECT_EQ(bench.sink.all().front().found, "number 4.2");
}

TEST(Findings, DuplicatesPointAtBothPlaces) {
  Bench bench;
  bench.check(kKeyed, "l:\n- {name: a, v: 1}\n- {name: a, v: 2}\n");
  ASSERT_EQ(bench.sink.all().size(), 1U);
  const diag::Diagnostic& finding = bench.sink.all().front();
  ASSERT_EQ(finding.secondary.size(), 1U);
  const diag::Span* first = bench.sources.span(finding.secondary.front().at);
  const diag::Span* second = bench.sources.span(finding.primary.at);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(bench.sources.position(first->file, first->begin).line, 2U);
  EXPECT_EQ(bench.sources.position(second->file, second->begin).line, 3U);
}

TEST(Findings, AlternativesSayWhyTheyDoNotFit) {
  Bench bench;
  bench.check(kShapes, "kind: z\nnum: 2\n");
  ASSERT_EQ(bench.sink.all().size(), 1U);
  EXPECT_EQ(bench.sink.all().front().notes,
            (std::vector<std::string>{"alternative 1: `z` is not an allowed value of `kind`",
                                      "alternative 2: value of `num` is out of range"}));
}

TEST(Findings, SecretsAreNotShown) {
  Bench bench;
  bench.check(
      "type: object\nproperties:\n"
      "  a: {type: string, pattern: '^x$', x-gpuctl-secret: true}\n"
      "  b: {type: string, enum: [x], x-gpuctl-secret: true}\n"
      "  c: {type: integer, x-gpuctl-secret: true}\n",
      "a: hunter1\nb: hunter2\nc: hunter3\n");
  EXPECT_EQ(bench.sink.error_count(), 3U);
  for (const diag::Diagnostic& finding : bench.sink.all()) {
    std::string all = finding.message + finding.expected + finding.found;
    for (const std::string& text : finding.notes) all += text;
    for (const std::string& text : finding.help) all += text;
    EXPECT_EQ(all.find("hunter"), std::string::npos) << all;
  }
}

TEST(Findings, PatternsBeyondRe2AreReportedOnce) {
  Bench bench;
  const yaml::Node definition = bench.read("type: array\nitems: {type: string, pattern: '^(?!x)'}");
  const SchemaPtr schema = compile_checked(definition, bench.sources);
  validate(*schema, bench.read("[a, b]"), bench.arena, bench.sources, bench.sink);
  ASSERT_EQ(bench.sink.all().size(), 1U) << bench.found();
  EXPECT_EQ(bench.sink.all().front().code, "GPU0212");
  EXPECT_EQ(bench.sink.all().front().severity, diag::Severity::note);
}

TEST(Options, UnknownFieldsMayBeAccepted) {
  Bench bench;
  bench.check(kThing, "name: x\nfoo: 3\n", {.refuse_unknown = false});
  EXPECT_EQ(bench.found(), "");
}

TEST(Options, SubjectStandsBeforeEveryMessage) {
  Bench bench;
  bench.check(kThing, "name: 3\n", {.subject = "MachineSet/a: "});
  EXPECT_EQ(bench.found(), "GPU0202 [3] MachineSet/a: wrong type for `name`\n");
}

TEST(Options, ExemptPathsMayBeAbsentOrAnything) {
  const ValidateOptions options{.exempt = {"name", "list.k", "inner"}};
  Bench bench;
  bench.check(kThing, "list: [{}]\ninner: 3\n", options);
  EXPECT_EQ(bench.found(), "");
  Bench other;
  other.check(kThing, "list: [{}]\nsize: x\n", options);
  EXPECT_EQ(other.found(), "GPU0202 [x] wrong type for `size`\n");
}

TEST(Options, ExemptPathsAreThoseOfPathsWith) {
  constexpr const char* kSecrets =
      "type: object\nproperties:\n"
      "  users: {type: object, additionalProperties: {type: object, required: [password], "
      "properties: {password: {type: string, x-gpuctl-secret: true}}}}\n"
      "  token: {type: string, x-gpuctl-secret: true}\nrequired: [token]\n";
  Bench bench;
  const std::vector<std::string> secret = paths_with(*bench.schema(kSecrets), "x-gpuctl-secret");
  EXPECT_EQ(secret, (std::vector<std::string>{"token", "users.password"}));
  bench.check(kSecrets, "users: {anna: {}}\n");
  EXPECT_EQ(bench.sink.error_count(), 2U);
  Bench other;
  other.check(kSecrets, "users: {anna: {}}\n", {.exempt = secret});
  EXPECT_EQ(other.found(), "");
}

}  // namespace
}  // namespace gpuctl::schema
