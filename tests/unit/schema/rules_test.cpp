// x-kubernetes-validations on documents.
#include <ostream>

#include "schema/compiled.hpp"
#include "support.hpp"

namespace gpuctl::schema {
namespace {

struct Case {
  const char* name;
  const char* schema;
  const char* document;
  const char* findings;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}
std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

class Rules : public testing::TestWithParam<Case> {};

TEST_P(Rules, AreEvaluated) {
  Bench bench;
  bench.check(GetParam().schema, GetParam().document);
  EXPECT_EQ(bench.found(), GetParam().findings);
}

constexpr const char* kRange =
    "type: object\n"
    "properties:\n"
    "  scaling:\n"
    "    type: object\n"
    "    properties: {min: {type: integer, default: 0}, max: {type: integer}, step: {type: "
    "integer}}\n"
    "    required: [max]\n"
    "    x-kubernetes-validations:\n"
    "    - rule: self.min <= self.max\n"
    "      message: min must not be over max.\n"
    "      fieldPath: .min\n";
constexpr const char* kEscaped =
    "type: object\n"
    "properties: {namespace: {type: string}, x-prop: {type: integer}, share: {type: number}}\n"
    "x-kubernetes-validations:\n"
    "- rule: '!has(self.__namespace__) || self.__namespace__ != \"kube-system\"'\n"
    "- rule: '!has(self.namespace) || self.namespace != \"kube-public\"'\n"
    "- rule: '!has(self.x__dash__prop) || self.x__dash__prop > 0'\n"
    "- rule: '!has(self.share) || self.share * 2.0 <= 1.0'\n";

constexpr const char* kNested =
    "type: object\n"
    "properties:\n"
    "  limits:\n"
    "    type: object\n"
    "    required: [max]\n"
    "    properties:\n"
    "      min: {type: integer}\n"
    "      max: {type: integer}\n"
    "      name: {type: string, pattern: '^[a-z]*$'}\n"
    "      step:\n"
    "        type: integer\n"
    "        x-kubernetes-validations: [{rule: self < 10, message: step must be small}]\n"
    "    x-kubernetes-validations:\n"
    "    - {rule: self.min <= self.max, message: min must not be over max, fieldPath: .min}\n"
    "x-kubernetes-validations:\n"
    "- rule: self.limits.min <= self.limits.max\n"
    "  messageExpression: '\"no pair of \" + string(self.limits.min) + \" and \" + "
    "string(self.limits.max)'\n";

const Case kCases[] = {
    {"met", kRange, "scaling: {min: 1, max: 2}\n", ""},
    {"not_met", kRange, "scaling: {min: 3, max: 2}\n",
     "GPU0208 [3] `scaling.min` does not meet a rule of its schema: min must not be over max\n"},
    {"default_is_seen", kRange, "scaling: {max: 2}\n", ""},
    {"default_breaks_it", kRange, "scaling: {max: -1}\n",
     "GPU0208 [scaling] `scaling.min` does not meet a rule of its schema: min must not be over "
     "max\n"},
    {"not_after_other_errors", kRange, "scaling: {min: 3, max: 2, step: x}\n",
     "GPU0202 [x] wrong type for `scaling.step`\n"},
    {"on_a_scalar",
     "type: object\nproperties: {num: {type: integer, x-kubernetes-validations: [{rule: 'self == 0 "
     "|| self >= 2000'}]}}",
     "num: 5\n", "GPU0208 [5] `num` does not meet a rule of its schema\n"},
    {"on_a_list",
     "type: array\nitems: {type: string}\nx-kubernetes-validations: [{rule: 'self.exists_one(x, x "
     "== \"a\")'}]",
     "[a, a]", "GPU0208 [[a, a]] the document does not meet a rule of its schema\n"},
    {"message_expression",
     "type: integer\nx-kubernetes-validations: [{rule: self < 3, message: fixed, "
     "messageExpression: '\"not under three: \" + string(self)'}]",
     "4", "GPU0208 [4] the document does not meet a rule of its schema: not under three: 4\n"},
    {"message_expression_that_fails",
     "type: integer\nx-kubernetes-validations: [{rule: self < 3, message: fixed, "
     "messageExpression: 'string(1 / 0)'}]",
     "4", "GPU0208 [4] the document does not meet a rule of its schema: fixed\n"},
    {"error_at_run_time",
     "type: integer\nx-kubernetes-validations: [{rule: 10 / self > 1, message: wrong}]", "0",
     "GPU0208 [0] the document does not meet a rule of its schema: wrong\n"},
    {"transition_is_skipped", "type: string\nx-kubernetes-validations: [{rule: self == oldSelf}]",
     "x", ""},
    {"transition_on_optional_is_skipped",
     "type: string\nx-kubernetes-validations: [{rule: '!oldSelf.hasValue() || self == "
     "oldSelf.value()', optionalOldSelf: true}]",
     "x", ""},
    {"old_self_in_a_text_is_no_transition",
     "type: string\nx-kubernetes-validations: [{rule: 'self != \"oldSelf\"'}]", "oldSelf",
     "GPU0208 [oldSelf] the document does not meet a rule of its schema\n"},
    {"null_has_no_rules",
     "type: object\nproperties: {a: {type: string, nullable: true, x-kubernetes-validations: "
     "[{rule: self == 'x'}]}}",
     "a: null\n", ""},
    {"escaped_names_met", kEscaped, "{namespace: a, x-prop: 1, share: 0.5}\n", ""},
    {"escaped_names_not_met", kEscaped, "{namespace: kube-system}\n",
     "GPU0208 [namespace] the document does not meet a rule of its schema\n"},
    {"reserved_word_not_met", kEscaped, "{namespace: kube-public}\n",
     "GPU0208 [namespace] the document does not meet a rule of its schema\n"},
    {"numbers_are_doubles", kEscaped, "{share: 1}\n",
     "GPU0208 [share] the document does not meet a rule of its schema\n"},
    {"inner_and_outer", kNested, "limits: {min: 5, max: 3, step: 50}\n",
     "GPU0208 [50] `limits.step` does not meet a rule of its schema: step must be small\n"
     "GPU0208 [5] `limits.min` does not meet a rule of its schema: min must not be over max\n"
     "GPU0208 [limits] the document does not meet a rule of its schema: no pair of 5 and 3\n"},
    {"beside_a_pattern", kNested, "limits: {min: 5, max: 3, name: X}\n",
     "GPU0205 [X] value of `limits.name` does not match its pattern\n"
     "GPU0208 [5] `limits.min` does not meet a rule of its schema: min must not be over max\n"
     "GPU0208 [limits] the document does not meet a rule of its schema: no pair of 5 and 3\n"},
    {"not_around_an_absent_field", kNested, "limits: {min: 5, step: 50}\n",
     "GPU0208 [50] `limits.step` does not meet a rule of its schema: step must be small\n"
     "GPU0203 [limits] missing required field `limits.max`\n"},
    {"not_around_an_unknown_field", kNested, "limits: {min: 5, max: 3, stepp: 1}\n",
     "GPU0201 [stepp] unknown field `limits.stepp`\n"},
    {"message_expression_with_line_breaks",
     "type: integer\nx-kubernetes-validations: [{rule: self < 3, message: fixed, "
     "messageExpression: '\"a\\nb\"'}]",
     "4", "GPU0208 [4] the document does not meet a rule of its schema: fixed\n"},
    {"message_expression_that_is_blank",
     "type: integer\nx-kubernetes-validations: [{rule: self < 3, message: fixed, "
     "messageExpression: '\" \"'}]",
     "4", "GPU0208 [4] the document does not meet a rule of its schema: fixed\n"},
    {"message_expression_is_trimmed",
     "type: integer\nx-kubernetes-validations: [{rule: self < 3, message: fixed, "
     "messageExpression: '\"  mine\\n\"'}]",
     "4", "GPU0208 [4] the document does not meet a rule of its schema: mine\n"},
    {"path_in_brackets",
     "type: object\nproperties: {m: {type: object, additionalProperties: {type: integer}}}\n"
     "x-kubernetes-validations: [{rule: '!(\"a.b\" in self.m)', fieldPath: \".m['a.b']\"}]",
     "m: {a.b: 1}\n", "GPU0208 [1] `m[\"a.b\"]` does not meet a rule of its schema\n"},
    {"null_fields_are_absent",
     "type: object\nproperties: {a: {type: string, nullable: true}}\n"
     "x-kubernetes-validations: [{rule: '!has(self.a) || size(self.a) > 3'}]",
     "a: null\n", ""},
    {"whole_reals_are_integers",
     "type: object\nproperties: {a: {type: integer}}\n"
     "x-kubernetes-validations: [{rule: 'self.a / 2 == 2'}]",
     "a: 5.0\n", ""},
    {"in_all_of", "type: integer\nallOf: [{x-kubernetes-validations: [{rule: self > 3}]}]", "2",
     "GPU0208 [2] the document does not meet a rule of its schema\n"},
};
INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(kCases), name_of);

TEST(RuleCounts, EverythingIsCountedAndNothingPassesSilently) {
  constexpr const char* kSchema =
      "type: object\n"
      "properties: {a: {type: integer}}\n"
      "x-kubernetes-validations:\n"
      "- {rule: self.a > 0}\n"
      "- {rule: self.a == oldSelf.a}\n"
      "- {rule: self.nosuchfield > 0}\n"
      "- {rule: 'self.a + 1'}\n";
  Bench bench;
  const SchemaPtr schema = compile_checked(bench.read(kSchema), bench.sources);
  RuleCounts counts;
  ValidateOptions options;
  options.counts = &counts;
  validate(*schema, bench.read("a: 1\n"), bench.arena, bench.sources, bench.sink, options);
  EXPECT_EQ(counts.evaluated, 1U);
  EXPECT_EQ(counts.skipped, 1U);
  EXPECT_EQ(counts.unsupported, 2U);
  ASSERT_EQ(bench.sink.all().size(), 2U) << bench.found();
  for (const diag::Diagnostic& finding : bench.sink.all()) {
    EXPECT_EQ(finding.code, "GPU0212");
    EXPECT_EQ(finding.severity, diag::Severity::note);
    EXPECT_NE(bench.sources.text(finding.primary.at), "") << "points at the rule";
  }
  const Survey all = survey(*schema);
  EXPECT_EQ(all.rules.evaluated, 1U);
  EXPECT_EQ(all.rules.skipped, 1U);
  EXPECT_EQ(all.rules.unsupported, 2U);
  EXPECT_EQ(all.unsupported.size(), 2U);
}

TEST(RuleCounts, UnsupportedRulesAreReportedOnceADocument) {
  Bench bench;
  const yaml::Node definition = bench.read(
      "type: array\nitems: {type: integer, x-kubernetes-validations: [{rule: nosuch(self)}]}");
  const SchemaPtr schema = compile_checked(definition, bench.sources);
  validate(*schema, bench.read("[1, 2, 3]"), bench.arena, bench.sources, bench.sink);
  EXPECT_EQ(bench.sink.all().size(), 1U) << bench.found();
}

TEST(RuleCounts, RulesAndPatternsOfOurOwnSchemasMustCompile) {
  Bench bench;
  const yaml::Node definition = bench.read(
      "type: array\nitems: {type: string, pattern: '^(?!x)'}\nx-kubernetes-validations: [{rule: "
      "nosuch(self)}, {rule: size(self) + 1}, "
      "{rule: size(self) > 0, messageExpression: other}, {rule: size(self) > 1}]");
  diag::Sink faults;
  compile(definition, bench.sources, faults);
  EXPECT_EQ(faults.all().size(), 4U);
  for (const diag::Diagnostic& fault : faults.all()) EXPECT_EQ(fault.code, "GPU0211");
}

// A rule that runs out of steps is an error, never a pass.
TEST(RuleLimits, TooManySteps) {
  std::string items;
  for (int i = 0; i < 400; ++i) items += (i == 0 ? "[" : ", ") + std::to_string(i);
  Bench bench;
  bench.check(
      "type: array\nitems: {type: integer}\nx-kubernetes-validations: [{rule: 'self.all(a, "
      "self.all(b, self.all(c, a + b + c >= 0)))', message: never}, {rule: 'false'}]",
      items + "]\n");
  ASSERT_EQ(bench.sink.all().size(), 1U) << bench.found();
  const diag::Diagnostic& finding = bench.sink.all().front();
  EXPECT_EQ(finding.severity, diag::Severity::error);
  EXPECT_EQ(finding.code, "GPU0208");
  ASSERT_EQ(finding.notes.size(), 2U);
  EXPECT_EQ(finding.notes[1].find("it could not be evaluated: "), 0U) << finding.notes[1];
}

TEST(RulePlaces, TheReasonIsShown) {
  Bench bench;
  bench.check(
      "type: integer\nx-kubernetes-validations: [{rule: self < 3, reason: FieldValueForbidden}]",
      "4\n");
  ASSERT_EQ(bench.sink.all().size(), 1U);
  EXPECT_EQ(bench.sink.all().front().notes,
            (std::vector<std::string>{"rule: `self < 3`", "reason: FieldValueForbidden"}));
}

TEST(RuleOptions, RulesCanBeSwitchedOff) {
  Bench bench;
  bench.check(kRange, "scaling: {min: 3, max: 2}\n", {.evaluate_rules = false});
  EXPECT_EQ(bench.found(), "");
}

TEST(RuleOptions, RulesAboutExemptFieldsAreSkipped) {
  constexpr const char* kSchema =
      "type: object\n"
      "properties: {pullSecret: {type: string}, other: {type: string}}\n"
      "x-kubernetes-validations:\n"
      "- {rule: 'size(self.pullSecret) > 0'}\n"
      "- {rule: 'self.other == \"x\"'}\n";
  RuleCounts counts;
  ValidateOptions options;
  options.exempt = {"pullSecret"};
  options.counts = &counts;
  Bench bench;
  bench.check(kSchema, "other: x\n", options);
  EXPECT_EQ(bench.found(), "");
  EXPECT_EQ(counts.skipped, 1U);
  EXPECT_EQ(counts.evaluated, 1U);
}

TEST(RulePlaces, TheRuleIsTheSecondPlace) {
  Bench bench;
  bench.check(kRange, "scaling: {min: 3, max: 2}\n");
  ASSERT_EQ(bench.sink.all().size(), 1U);
  const diag::Diagnostic& finding = bench.sink.all().front();
  ASSERT_EQ(finding.secondary.size(), 1U);
  EXPECT_EQ(bench.sources.text(finding.secondary.front().at), "self.min <= self.max");
  EXPECT_EQ(finding.notes, std::vector<std::string>{"rule: `self.min <= self.max`"});
}

TEST(RulePlaces, OfACrdTheRuleIsNamedAsText) {
  Bench crd;
  const SchemaPtr schema = compile_published(crd.read(kRange, "crd.yaml"), crd.sources, "Kind");
  Bench bench;
  validate(*schema, bench.read("scaling: {min: 3, max: 2}\n"), bench.arena, bench.sources,
           bench.sink);
  ASSERT_EQ(bench.sink.all().size(), 1U);
  const diag::Diagnostic& finding = bench.sink.all().front();
  EXPECT_TRUE(finding.secondary.empty());
  ASSERT_EQ(finding.notes.size(), 2U);
  EXPECT_EQ(finding.notes[1], "the rule stands at crd.yaml:8:13");
}

}  // namespace
}  // namespace gpuctl::schema
