#include "compose/body.hpp"

#include <gtest/gtest.h>

#include "support/knowledge.hpp"

namespace gpuctl::compose {
namespace {

using testing::Lab;

// Compiles and instantiates a body with `who` = "world", `n` = 3, `list` = ["a", "b"],
// `map` = {"k": 1}; gives JSON, "omitted", "fault: ..." or the codes of diagnostics.
std::string make(const std::string& body, const ResolveSecret& resolve = {}) {
  Lab lab;
  cel::Environment environment;
  const cel::Type string = cel::Type::simple(cel::TypeKind::string);
  environment.variables = {{"who", string},
                           {"n", cel::Type::simple(cel::TypeKind::integer)},
                           {"list", cel::Type::list(string)},
                           {"map", cel::Type::map(string, cel::Type::dyn())}};
  yaml::Arena& arena = lab.library->arena();
  const yaml::Node written = lab.parse(body);
  const auto compiled = compile_body(written, environment, lab.library->sources(), lab.sink);
  if (compiled == nullptr) return lab.codes();
  std::vector<cel::Value> values = {arena.string("world"), yaml::Node::integer(3),
                                    lab.parse("[a, b]"), lab.parse("{k: 1}")};
  Instance instance(arena, resolve, lab.library->sources(), lab.sink, nullptr);
  const auto made = instance.make(*compiled, values);
  if (instance.fault()) return "fault: " + instance.fault()->error.message;
  if (lab.sink.has_errors()) return lab.codes();
  EXPECT_EQ(values.size(), 4U);
  return made ? yaml::emit_json(*made) : "omitted";
}

TEST(Body, KeepsTypes) {
  EXPECT_EQ(make("a: ${n}\nb: ${n > 2}\nc: ${list}\nd: ${map}\ne: ${null}\nf: plain\n"),
            R"({"a":3,"b":true,"c":["a","b"],"d":{"k":1},"e":null,"f":"plain"})");
}

TEST(Body, BuildsText) {
  EXPECT_EQ(make("a: hello-${who}-${string(n)}\nb: ${'${'}who}\n"),
            R"({"a":"hello-world-3","b":"${who}"})");
  EXPECT_EQ(make("a: \"${'}'}${\\\"{\\\"}\"\n"), R"({"a":"}{"})");
}

TEST(Body, RefusesNumbersInText) {
  EXPECT_EQ(make("a: x-${n}\n"), "GPU0302");
}

TEST(Body, ComputesKeys) {
  EXPECT_EQ(make("${who}: 1\nx-${who}: 2\n"), R"({"world":1,"x-world":2})");
  EXPECT_EQ(make("${who}: 1\nworld: 2\n"), "GPU0412");
  EXPECT_EQ(make("${n}: 1\n"), "GPU0411");
  EXPECT_EQ(make("\"${n > 5 ? 'a' : omit()}\": 1\nb: 2\n"), R"({"b":2})");
}

TEST(Body, LeavesOut) {
  EXPECT_EQ(make("a: ${omit()}\nb: 1\n"), R"({"b":1})");
  EXPECT_EQ(make("a: ${map.?k}\nb: [\"${map.?none}\", 2]\nc: ${map.?none}\n"),
            R"({"a":1,"b":[2]})");
  EXPECT_EQ(make("a: [1, \"${omit()}\", 2]\n"), R"({"a":[1,2]})");
  EXPECT_EQ(make("a: {$if: \"${n > 5}\", x: 1}\nb: {$if: \"${n < 5}\", x: 1}\n"),
            R"({"b":{"x":1}})");
  EXPECT_EQ(make("a:\n- {$if: \"${false}\", x: 1}\n- {x: 2}\n"), R"({"a":[{"x":2}]})");
  EXPECT_EQ(make("$if: ${false}\na: 1\n"), "omitted");
  EXPECT_EQ(make("a: ${null}\n"), R"({"a":null})");
}

TEST(Body, Repeats) {
  EXPECT_EQ(make("a:\n- $forEach: {x: \"${list}\"}\n  name: ${x}\n- name: last\n"),
            R"({"a":[{"name":"a"},{"name":"b"},{"name":"last"}]})");
  EXPECT_EQ(make("a:\n- $forEach: {x: \"${list}\", y: \"${list}\"}\n  $value: ${x + y}\n"),
            R"({"a":["aa","ab","ba","bb"]})");
  EXPECT_EQ(make("a:\n- $forEach: {x: \"${list}\"}\n  $if: ${x == 'b'}\n  name: ${x}\n"),
            R"({"a":[{"name":"b"}]})");
  EXPECT_EQ(make("a: {$forEach: {x: \"${list}\"}, name: 1}\n"), "GPU0411");
}

TEST(Body, Merges) {
  EXPECT_EQ(make("$merge: [{a: 1, b: 1}, \"${map}\", {b: 2}]\nc: 3\n"),
            R"({"a":1,"b":2,"k":1,"c":3})");
  EXPECT_EQ(make("$merge:\n- $forEach: {x: \"${list}\"}\n  ${x}: ${n}\n"), R"({"a":3,"b":3})");
  EXPECT_EQ(make("$merge: 1\n"), "GPU0411");
}

TEST(Body, Patches) {
  EXPECT_EQ(make("a: {b: 1, c: 2}\n$patch: {a: {b: null, d: 3}}\n"), R"({"a":{"c":2,"d":3}})");
  EXPECT_EQ(make("a: 1\n$patch: ${map}\n"), R"({"a":1,"k":1})");
  EXPECT_EQ(make("a: 1\n$patch: ${omit()}\n"), R"({"a":1})");
}

TEST(Body, WritesDocumentsInsideDocuments) {
  EXPECT_EQ(make("a: {$yaml: {x: \"${n}\", z: [\"${who}\"]}}\n"), R"({"a":"x: 3\nz:\n- world\n"})");
  EXPECT_EQ(make("a: {$json: {x: \"${n}\"}}\n"), R"({"a":"{\"x\":3}"})");
  EXPECT_EQ(make("a: {$yaml: {}, b: 1}\n"), "GPU0411");
}

TEST(Body, LeavesSecretsOutUnlessResolved) {
  EXPECT_EQ(make("a: {$secret: \"${map}\"}\nb: 1\n"), R"({"b":1})");
  const ResolveSecret resolve = [](const yaml::Node& reference,
                                   std::string_view as) -> std::optional<std::string> {
    return std::string(as) + "secret " + std::to_string(reference.get("k").as_integer());
  };
  EXPECT_EQ(make("a: {$secret: \"${map}\"}\nb: 1\n", resolve), R"({"a":"secret 1","b":1})");
  EXPECT_EQ(make("a: {$secret: \"${map}\", $checkedAs: X}\n", resolve), R"({"a":"Xsecret 1"})");
  EXPECT_EQ(make("a: {$value: 1, $checkedAs: X}\n", resolve), "GPU0411");
}

TEST(Body, KnowsItsStructuralKeys) {
  EXPECT_EQ(make("$fi: ${true}\na: 1\n"), "GPU0411");
  EXPECT_EQ(make("a: ${unknown}\n"), "GPU0302");
  EXPECT_EQ(make("a: ${1 +}\n"), "GPU0301");
  EXPECT_EQ(make("a: ${1\n"), "GPU0301");
}

TEST(Body, ReportsRunTimeFaults) {
  EXPECT_TRUE(make("a: ${list[5]}\n").starts_with("fault: "));
  EXPECT_TRUE(make("a: ${map.gone}\n").starts_with("fault: "));
}

// A value can never become structure: it stays one scalar whatever it contains.
TEST(Body, CannotBeInjected) {
  Lab lab;
  cel::Environment environment;
  environment.variables = {{"v", cel::Type::simple(cel::TypeKind::string)}};
  yaml::Arena& arena = lab.library->arena();
  const auto compiled = compile_body(lab.parse("image: ${v}\nname: x-${v}\n${v}: key\n"),
                                     environment, lab.library->sources(), lab.sink);
  ASSERT_NE(compiled, nullptr);
  for (const std::string& hostile :
       {std::string("img\"\n    servicePort: 1\n    injected: \"true"), std::string("a: b # c"),
        std::string("---\nkind: Pod"), std::string("{{ x }}"), std::string("${v}"),
        std::string("%s\\n"), std::string("- 1\n- 2"), std::string("'\"`|>&*!"),
        std::string(" lead and trail "), std::string("\ttab"), std::string("no"),
        std::string("1e3")}) {
    std::vector<cel::Value> values = {arena.string(hostile)};
    const ResolveSecret none;
    Instance instance(arena, none, lab.library->sources(), lab.sink, nullptr);
    const auto made = instance.make(*compiled, values);
    ASSERT_TRUE(made.has_value());
    const yaml::Node back = lab.parse(yaml::emit(*made));
    EXPECT_EQ(back.get("image").as_string(), hostile);
    EXPECT_EQ(back.get("name").as_string(), "x-" + hostile);
    EXPECT_EQ(back.get(hostile).as_string(), "key");
    EXPECT_EQ(back.size(), 3U);
  }
}

}  // namespace
}  // namespace gpuctl::compose
