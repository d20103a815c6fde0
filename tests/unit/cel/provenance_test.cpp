#include "cel/provenance.hpp"

#include <gtest/gtest.h>

#include "cel/program.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cel {
namespace {

class ProvenanceTest : public testing::Test {
 protected:
  yaml::Node read(const char* text) {
    const auto tree = yaml::read(sources_.add_file("t.yaml", text), sources_, arena_, sink_);
    return tree ? *tree : yaml::Node();
  }

  // Evaluates over `spec`; the paths of what counts as read, separated by spaces.
  std::string reads_of(const char* expression, const yaml::Node& spec) {
    Environment environment;
    environment.variables = {{"spec", Type::dyn()}};
    std::vector<Problem> problems;
    const auto program = compile(expression, environment, problems);
    if (program == nullptr) return problems.front().message;
    const std::vector<Value> values = {Value(spec)};
    std::vector<diag::Origin> reads;
    const Outcome outcome = evaluate(*program, values, arena_, &reads);
    const diag::Origin mark = provenance_.add({arena_.string(expression), "", reads});
    std::string out;
    for (const diag::Origin read : provenance_.evaluation(mark)->reads) {
      out += (out.empty() ? "" : " ") + provenance_.path(read);
    }
    return out + (outcome.ok() ? "" : " !" + outcome.error->message);
  }

  diag::Sources sources_;
  diag::Sink sink_;
  yaml::Arena arena_;
  Provenance provenance_;
};

TEST_F(ProvenanceTest, MarksLeadBackToPlaceAndSpan) {
  const yaml::Node tree = read("pools:\n- name: large\n  min: 2\n- [7]\n");
  const yaml::Node marked = provenance_.mark("spec", tree, arena_);
  EXPECT_TRUE(yaml::equal(tree, marked));
  const yaml::Node min = marked.get("pools").items()[0].get("min");
  ASSERT_TRUE(is_mark(min.origin()));
  EXPECT_EQ(provenance_.path(min.origin()), "spec.pools[large].min");
  EXPECT_EQ(provenance_.root_of(min.origin()), "spec");
  EXPECT_EQ(sources_.text(provenance_.behind(min.origin())), "2");
  EXPECT_EQ(provenance_.path(marked.get("pools").items()[1].items()[0].origin()),
            "spec.pools[1][0]");
  EXPECT_TRUE(yaml::equal(provenance_.root("spec"), tree));
  EXPECT_TRUE(provenance_.root("nothing").is_null());
}

TEST_F(ProvenanceTest, TheNearestReadsCount) {
  const yaml::Node spec = provenance_.mark(
      "spec", read("{a: {b: 1, c: 2}, list: [{name: x, v: 1}, {name: z, v: 2}], t: text}"), arena_);
  const std::pair<const char*, const char*> cases[] = {
      {"spec.a.b + spec.a.c", "spec.a.b spec.a.c"},
      {"spec.a", "spec.a"},
      {"spec['a']['c']", "spec.a.c"},
      {"spec.a.b > 0 ? spec.t : spec.a.c", "spec.a.b spec.t"},
      {"spec.t + '-' + spec.t", "spec.t"},
      {"has(spec.a.b)", "spec.a.b"},
      {"has(spec.a.z)", ""},
      {"spec.list.filter(i, i.v == 2)[0].name", "spec.list[z].v spec.list[z].name"},
      {"spec.list.map(i, i.name)", "spec.list[x].name spec.list[z].name"},
      {"spec.list.exists(i, i.v == 1)", "spec.list[x].v"},
      {"size(spec.list)", "spec.list"},
      {"spec.a.map(k, k)", "spec.a.b spec.a.c"},
      {"spec.a.b / (spec.a.c - 2)", "spec.a.b spec.a.c !division by zero"},
      {"1 + 1", ""},
  };
  for (const auto& [expression, expected] : cases) {
    EXPECT_EQ(reads_of(expression, spec), expected) << expression;
  }
}

TEST_F(ProvenanceTest, AGrowingTreeKeepsItsMarks) {
  const yaml::Node first = provenance_.mark("cluster", read("{a: 1}"), arena_);
  yaml::MapBuilder builder(first);
  builder.set(arena_, "b", yaml::Node::integer(2));
  const yaml::Node second =
      provenance_.mark("cluster", builder.build(arena_, first.origin()), arena_);
  EXPECT_EQ(second.origin(), first.origin());
  EXPECT_EQ(second.get("a").origin(), first.get("a").origin());
  EXPECT_EQ(provenance_.path(second.get("b").origin()), "cluster.b");
  EXPECT_EQ(provenance_.place(second.origin())->value.size(), 2U);
}

TEST_F(ProvenanceTest, ResultsKnowTheirExpressionAndWhatTheyTook) {
  const yaml::Node spec = provenance_.mark("spec", read("{a: {b: 1}}"), arena_);
  const yaml::Node scalar = arena_.string("{'x': spec.a.b, 'y': 5}");
  const std::vector<yaml::Entry> entries = {arena_.entry("x", spec.get({"a", "b"})),
                                            arena_.entry("y", yaml::Node::integer(5))};
  const yaml::Node result = provenance_.mark_result(
      {scalar, "just so", {spec.get({"a", "b"}).origin()}}, arena_.map(entries), arena_);
  const auto* evaluation = provenance_.evaluation(result.origin());
  ASSERT_NE(evaluation, nullptr);
  EXPECT_EQ(evaluation->because, "just so");
  const diag::Origin x = result.get("x").origin();
  EXPECT_EQ(provenance_.path(provenance_.behind(x)), "spec.a.b");
  EXPECT_EQ(provenance_.root_of(x), "");
  EXPECT_EQ(provenance_.behind(result.get("y").origin()), result.origin());
}

TEST_F(ProvenanceTest, OtherOriginsAreNoMarks) {
  EXPECT_EQ(provenance_.place(diag::kNoOrigin), nullptr);
  EXPECT_EQ(provenance_.place(kFirstMark + 5), nullptr);
  EXPECT_EQ(provenance_.evaluation(7), nullptr);
  EXPECT_EQ(provenance_.path(7), "");
  EXPECT_EQ(provenance_.behind(7), diag::kNoOrigin);
}

}  // namespace
}  // namespace gpuctl::cel
