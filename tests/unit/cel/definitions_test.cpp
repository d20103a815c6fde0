#include "cel/definitions.hpp"

#include <gtest/gtest.h>

#include "cel/store.hpp"
#include "diag/print.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cel {
namespace {

/// Variables `spec` (dyn) and `facts` (dyn), and a function `seen(x)` that gives x and counts.
class DefinitionsTest : public testing::Test {
 protected:
  DefinitionsTest() {
    auto functions = std::make_shared<Functions>();
    Function seen;
    seen.name = "seen";
    seen.params = {Type::dyn()};
    seen.result_of = [](std::span<const Type> types) { return types.front(); };
    seen.call = [this](std::span<const Value> arguments, CallContext&) {
      ++calls;
      return Outcome{arguments.front(), std::nullopt};
    };
    functions->add(std::move(seen));
    auto base = std::make_shared<Environment>();
    base->functions = functions;
    base->variables = {{"spec", Type::dyn()}, {"facts", Type::dyn()}};
    environment = base;
    values = {Value(parse("{size: 3, pools: [{name: a}, {name: b}]}")), Value(parse("{}"))};
  }

  yaml::Node parse(const std::string& text) {
    return yaml::read(sources.add_file("given.yaml", text), sources, arena, sink).value();
  }

  // From here on expressions see the definitions.
  void define(const std::string& written, bool thorough = true) {
    definitions = Definitions(parse(written), environment, thorough, sources, sink);
    definitions.bind(values);
  }

  Expression compiled(const std::string& text) {
    return compile_bare(arena.string(text), *environment, sources, sink);
  }

  std::string show(const std::string& text) {
    const Expression expression = compiled(text);
    if (!expression) return "faulty";
    const Outcome outcome = evaluate(*expression.program, values, arena);
    return outcome.ok() ? yaml::emit_json(outcome.value.node()) : outcome.error->message;
  }

  std::string report() {
    std::string out;
    for (const diag::Diagnostic& diagnostic : sink.sorted(sources)) {
      diag::print_text(diagnostic, sources, false, out);
    }
    return out;
  }

  diag::Sources sources;
  diag::Sink sink;
  yaml::Arena arena;
  std::shared_ptr<const Environment> environment;
  Definitions definitions;
  std::vector<Value> values;
  int calls = 0;
};

TEST_F(DefinitionsTest, SeeThoseBeforeThem) {
  define(
      "{names: 'spec.pools.map(pool, pool.name)', text: 'names.join(\"-\")', again: text + text}");
  EXPECT_EQ(show("again"), R"("a-ba-b")") << report();
  EXPECT_EQ(show("size(names) == 2 && names[1] == 'b'"), "true");
  const Expression typed = compiled("text");
  EXPECT_EQ(type_of(*typed.program).text(), "string");
}

TEST_F(DefinitionsTest, AreEvaluatedWhenFirstReadAndOnce) {
  define("{double: seen(spec.size) * 2, twice: double + double, pool: 'seen(spec.pools[0])'}");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(show("twice + double"), "18");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(show("pool.name == 'a' && has(pool.name) && !has(pool.size) ? pool : {}"),
            R"({"name":"a"})");
  EXPECT_EQ(calls, 2);
}

TEST_F(DefinitionsTest, AreEvaluatedAgainWhenForgotten) {
  define("{double: seen(spec.size) * 2, twice: double * 2}");
  EXPECT_EQ(show("twice"), "12");
  values.front() = Value(parse("{size: 5}"));
  EXPECT_EQ(show("twice"), "12");
  definitions.forget(std::span(values).subspan(2));
  EXPECT_EQ(show("twice"), "20");
  EXPECT_EQ(calls, 2);
}

TEST_F(DefinitionsTest, MatterOnlyWhereTheyAreRead) {
  define("{infra: facts.infraID, none: '[][0]'}");
  EXPECT_EQ(show("spec.size == 3 || none"), "true");
  EXPECT_EQ(show("has(facts.infraID) ? infra : 'later'"), R"("later")");
  EXPECT_TRUE(sink.empty()) << report();
}

TEST_F(DefinitionsTest, SayWhereTheFaultIs) {
  define("{infra: facts.infraID, label: '\"cluster-\" + infra'}");
  const Expression reader = compiled("label + '!'");
  // A first answer without words must not spoil the second.
  EXPECT_FALSE(attempt(*reader.program, values, arena).ok());
  const Outcome outcome = evaluate(*reader.program, values, arena);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error->kind, EvalError::Kind::no_such_key);
  EXPECT_EQ(outcome.error->path, "facts.infraID");
  cel::report(*outcome.error, reader, sources, sink);
  EXPECT_EQ(report(),
            "error[GPU0303]: no such key `infraID`\n"
            " --> given.yaml:1:9\n"
            "  |\n"
            "1 | {infra: facts.infraID, label: '\"cluster-\" + infra'}\n"
            "  |         ^^^^^^^^^^^^^\n");
}

TEST_F(DefinitionsTest, TellWhatTheyRead) {
  define("{size: spec.size, pool: 'spec.pools[0]'}");
  const Expression reader = compiled("size == 3 && pool.name == 'a'");
  const yaml::Node& spec = values.front().node();
  for (int i = 0; i < 2; ++i) {
    if (i == 1) {
      EXPECT_TRUE(attempt(*reader.program, values, arena).ok());
    }
    std::vector<yaml::Origin> reads;
    EXPECT_TRUE(evaluate(*reader.program, values, arena, &reads).ok());
    for (const yaml::Node& read : {spec.get("size"), spec.get("pools").items()[0].get("name")}) {
      EXPECT_NE(std::find(reads.begin(), reads.end(), read.origin()), reads.end()) << i;
    }
  }
}

TEST_F(DefinitionsTest, SeeOnlyWhatStandsAboveThem) {
  define("{string: 'type(\"\") == string', again: 'string ? 1 : 2'}");
  EXPECT_EQ(show("again"), "1") << report();
  define("{early: late, late: '1'}");
  EXPECT_NE(report().find("GPU0302]: undeclared name `late`"), std::string::npos) << report();
}

TEST_F(DefinitionsTest, RefuseFaultyNames) {
  define("{spec: '1', a-b: '2', in: '3', fine: '4', late: missing}");
  EXPECT_EQ(report(),
            "error[GPU0302]: `spec` stands for something else here\n"
            " --> given.yaml:1:2\n"
            "  |\n"
            "1 | {spec: '1', a-b: '2', in: '3', fine: '4', late: missing}\n"
            "  |  ^^^^\n"
            "help: take another name\n"
            "error[GPU0301]: `a-b` cannot be the name of a variable\n"
            " --> given.yaml:1:13\n"
            "  |\n"
            "1 | {spec: '1', a-b: '2', in: '3', fine: '4', late: missing}\n"
            "  |             ^^^\n"
            "  = expected: letters and digits, a letter first\n"
            "error[GPU0301]: `in` cannot be the name of a variable\n"
            " --> given.yaml:1:23\n"
            "  |\n"
            "1 | {spec: '1', a-b: '2', in: '3', fine: '4', late: missing}\n"
            "  |                       ^^\n"
            "  = expected: letters and digits, a letter first\n"
            "error[GPU0302]: undeclared name `missing`\n"
            " --> given.yaml:1:49\n"
            "  |\n"
            "1 | {spec: '1', a-b: '2', in: '3', fine: '4', late: missing}\n"
            "  |                                                 ^^^^^^^\n");
}

// Programs that the build has stored do not mix up variables that share a name.
TEST_F(DefinitionsTest, AreToldApartByWhatTheyMean) {
  const auto store = std::make_shared<Store>();
  const auto base = std::make_shared<Environment>(*environment);
  base->store = store;
  const std::vector<Value> given = values;
  for (const auto& [written, wanted] :
       {std::pair("{x: spec.size}", "3"), std::pair("{x: size(spec.pools)}", "2")}) {
    environment = base;
    values = given;
    define(written);
    EXPECT_EQ(show("x"), wanted);
  }
  Store::Records records;
  const std::string packed = store->packed(records);
  base->store = Store::open(packed, records.bytes());
  for (const auto& [written, wanted] :
       {std::pair("{x: spec.size}", "3"), std::pair("{x: size(spec.pools)}", "2")}) {
    environment = base;
    values = given;
    define(written, false);
    const Expression reader = compiled("x");
    EXPECT_TRUE(is_stored(*reader.program));
    EXPECT_EQ(show("x"), wanted);
  }
  EXPECT_TRUE(sink.empty()) << report();
}

}  // namespace
}  // namespace gpuctl::cel
