#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "cel/opaque.hpp"
#include "cel/program.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cel {
namespace {

/// `pool`: {name: a100, replicas: 2, weight: 3 (declared double), tags: [x, y]}, each with an
/// origin of its own; `facts`: an empty map.
class Evaluate : public testing::Test {
 protected:
  Evaluate() {
    auto type = std::make_shared<ObjectType>();
    type->name = "Pool";
    type->fields = {{"name", Type::simple(TypeKind::string), true},
                    {"replicas", Type::simple(TypeKind::integer), true},
                    {"weight", Type::simple(TypeKind::real), true},
                    {"tags", Type::list(Type::simple(TypeKind::string)), true}};
    environment.variables = {{"pool", Type::object(type)}, {"facts", Type::dyn()}};
    const std::vector<yaml::Node> tags = {arena.string("x", 14), arena.string("y", 15)};
    const std::vector<yaml::Entry> pool = {
        arena.entry("name", arena.string("a100", 11)),
        arena.entry("replicas", yaml::Node::integer(2, 12)),
        arena.entry("weight", yaml::Node::integer(3, 13)),
        arena.entry("tags", arena.list(tags, 16)),
    };
    values = {Value(arena.map(pool, 10)), Value(arena.map({}))};
  }

  Outcome run(const std::string& text) {
    std::vector<Problem> problems;
    const auto program = compile(text, environment, problems);
    if (program == nullptr) {
      ADD_FAILURE() << text << ": " << problems.front().message;
      return {};
    }
    return evaluate(*program, values, arena);
  }

  /// JSON of the value, or `type!` for an opaque one, or `error: ...`.
  std::string show(const std::string& text) {
    const Outcome outcome = run(text);
    if (!outcome.ok()) return "error: " + outcome.error->message;
    if (!outcome.value.is_node()) return type_name_of(outcome.value) + "!";
    return yaml::emit_json(outcome.value.node());
  }

  yaml::Arena arena;
  Environment environment;
  std::vector<Value> values;
};

TEST_F(Evaluate, Expressions) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 + 2 * 3", "7"},
      {"7 / 2", "3"},
      {"-7 / 2", "-3"},
      {"-7 % 3", "-1"},
      {"7.0 / 2.0", "3.5"},
      {"1 / 0", "error: division by zero"},
      {"1 % 0", "error: modulus by zero"},
      {"9223372036854775807 + 1", "error: integer overflow"},
      {"-9223372036854775808 - 1", "error: integer overflow"},
      {"9223372036854775807 * 2", "error: integer overflow"},
      {"-(-9223372036854775808)", "error: integer overflow"},
      {"-9223372036854775808 / -1", "error: integer overflow"},
      {"1 == 1.0", "true"},
      {"1 < 1.5 && 1.5 < 2", "true"},
      {"'a' < 'b'", "true"},
      {"false < true", "true"},
      {"'' + 'a' + '' + string(1)", "\"a1\""},
      {"0.0 / 0.0 == 0.0 / 0.0", "false"},
      {"[1, 2] == [1.0, 2.0]", "true"},
      {"{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "true"},
      {"dyn(1) == 'a'", "false"},
      {"null == null", "true"},
      {"pool.name == null", "false"},
      {"dyn(1) < 'a'", "error: operator `<` cannot take int and string"},
      {"dyn(1) + 'a'", "error: operator `+` cannot take string and int"},
      {"dyn(1) + dyn(1.5)", "error: operator `+` cannot take int and double"},
      {"1 / 0 == 1 || true", "true"},
      {"true || 1 / 0 == 1", "true"},
      {"1 / 0 == 1 && false", "false"},
      {"1 / 0 == 1 || false", "error: division by zero"},
      {"dyn(1) || true", "true"},
      {"dyn(1) || false", "error: operator `||` wants bool, not int"},
      {"true ? 1 : 1 / 0", "1"},
      {"2 in [1, 2]", "true"},
      {"'a' in {'a': null}", "true"},
      {"[10, 20][1]", "20"},
      {"[10, 20][2]", "error: index 2 is out of range, the list has 2 items"},
      {"[10, 20][-1]", "error: index -1 is out of range, the list has 2 items"},
      {"{'a': 1}['b']", "error: no such key `b`"},
      {"{'a': {'b': 1}}.a.b", "1"},
      {"{1: 'x'}[1]", "\"x\""},
      {"{true: 'x'}[true]", "\"x\""},
      {"{'a': 1, 'a': 2}", "error: repeated key `a`"},
      {"{'z': 1, 'a': 2}", "{\"z\":1,\"a\":2}"},
      {"[1, 2] + [3]", "[1,2,3]"},
      {"has(facts.x)", "false"},
      {"has(facts.x.y)", "error: no such key `x`"},
      {"has(pool.name) && !has({'a': 1}.b)", "true"},
      {"facts.x == 1 || true", "true"},
      {"[1, 2, 3].map(x, x * x)", "[1,4,9]"},
      {"[1, 2, 3].map(x, x > 1, x * x)", "[4,9]"},
      {"[1, 2, 3].filter(x, x > 1)", "[2,3]"},
      {"{'a': 1, 'b': 2}.filter(k, k > 'a')", "[\"b\"]"},
      {"[1, 2].exists_one(x, x > 1) && [1, 2].existsOne(i, x, i == 0)", "true"},
      {"[0, 1].exists(x, 1 / x == 1)", "true"},
      {"[0, 2].exists(x, 1 / x == 1)", "error: division by zero"},
      {"[1, 0].all(x, 1 / x == 2)", "false"},
      {"[0, 1].exists_one(x, 1 / x == 1)", "error: division by zero"},
      {"['a', 'b'].all(i, v, i < 2 && v < 'c')", "true"},
      {"['a', 'b'].transformList(i, v, string(i) + v)", "[\"0a\",\"1b\"]"},
      {"['a', 'b'].transformList(i, v, i > 0, v)", "[\"b\"]"},
      {"{'a': 1}.transformMap(k, v, v + 1)", "{\"a\":2}"},
      {"{'a': 1, 'b': 2}.transformMap(k, v, k == 'b', v)", "{\"b\":2}"},
      {"['a', 'b'].transformMapEntry(i, v, {v: i})", "{\"a\":0,\"b\":1}"},
      {"['a', 'a'].transformMapEntry(i, v, {v: i})", "error: repeated key in `transformMapEntry`"},
      {"[1, 2].map(x, [3, 4].map(y, x * y))", "[[3,4],[6,8]]"},
      {"[[1, 2], [3]].map(l, l.map(x, x + l.size()))", "[[3,4],[4]]"},
      {"int('42') + int(3.9) + int(-3.9)", "42"},
      {"int('x')", "error: `x` is no 64-bit integer"},
      {"int(1e19)", "error: the double does not fit an int"},
      {"double('1.5')", "1.5"},
      {"string(1.0) + ' ' + string(1.5) + ' ' + string(-7) + ' ' + string(true)",
       "\"1 1.5 -7 true\""},
      {"bool('true') && !bool('0')", "true"},
      {"type(1) == int && type('') == string && type(null) == null_type && type(int) == type",
       "true"},
      {"type([]) == list && type({}) == map && type(1.0) == double && type(true) == bool", "true"},
      {"ip('::1')", "ip!"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(show(text), expected) << text;
}

TEST_F(Evaluate, KeepsTheOriginOfWhatIsSelected) {
  const auto origin = [&](const char* text) { return run(text).value.node().origin(); };
  EXPECT_EQ(origin("pool"), 10U);
  EXPECT_EQ(origin("pool.name"), 11U);
  EXPECT_EQ(origin("pool['name']"), 11U);
  EXPECT_EQ(origin("pool.tags[1]"), 15U);
  EXPECT_EQ(origin("true ? pool.name : ''"), 11U);
  EXPECT_EQ(origin("dyn(pool.replicas)"), 12U);
  EXPECT_EQ(origin("pool.name + ''"), diag::kNoOrigin);
  EXPECT_EQ(origin("'a100'"), diag::kNoOrigin);
  EXPECT_EQ(run("pool.tags.filter(t, t == 'y')").value.node().items()[0].origin(), 15U);
  EXPECT_EQ(run("pool.tags.sort()").value.node().items()[0].origin(), 14U);
  EXPECT_EQ(run("{'a': pool.name}").value.node().get("a").origin(), 11U);
}

TEST_F(Evaluate, NamesTheChainOfAMissingKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"facts.infraID", "facts.infraID"},
      {"facts.a.b.c", "facts.a"},
      {"facts . infraID + '-x'", "facts.infraID"},
      {"facts['infraID']", "facts[\"infraID\"]"},
      {"has(facts.a.b)", "facts.a"},
      {"{'a': 1}.b", ""},
      {"[facts].map(f, f.x)", ""},
  };
  for (const auto& [text, path] : cases) {
    const Outcome outcome = run(text);
    ASSERT_FALSE(outcome.ok()) << text;
    EXPECT_EQ(outcome.error->kind, EvalError::Kind::no_such_key) << text;
    EXPECT_EQ(outcome.error->path, path) << text;
  }
  const Outcome outcome = run("1 + facts.infraID");
  EXPECT_EQ(outcome.error->begin, 4U);
  EXPECT_EQ(outcome.error->end, 17U);
}

TEST_F(Evaluate, LeavesOutWhatIsOmitted) {
  EXPECT_TRUE(run("omit()").value.is_omit());
  EXPECT_TRUE(run("pool.replicas > 5 ? pool.name : omit()").value.is_omit());
  EXPECT_EQ(show("{'a': 1, 'b': omit()}"), "{\"a\":1}");
  EXPECT_EQ(show("[1, omit(), 2]"), "[1,2]");
  EXPECT_EQ(show("[1, 2, 3].map(x, x == 2 ? omit() : x)"), "[1,3]");
  EXPECT_EQ(show("{'a': 1, 'b': 2}.transformMap(k, v, v > 1 ? dyn(v) : omit())"), "{\"b\":2}");
  EXPECT_EQ(show("'a' + omit()"), "error: operator `+` cannot take string and omit");
  EXPECT_EQ(show("null"), "null");
}

TEST_F(Evaluate, TakesIntegersOfDocumentsAsDoublesWhereTheSchemaSaysSo) {
  EXPECT_EQ(show("pool.weight / 2.0"), "1.5");
  EXPECT_EQ(show("-pool.weight / 2.0"), "-1.5");
  EXPECT_EQ(show("math.ceil(pool.weight)"), "3.0");
  EXPECT_EQ(show("pool.weight"), "3");  // as written
}

TEST_F(Evaluate, ChecksValuesThatBelieTheirType) {
  // The document was not validated: `name` is a number, `tags` a string.
  const std::vector<yaml::Entry> wrong = {arena.entry("name", yaml::Node::integer(1)),
                                          arena.entry("tags", arena.string("x"))};
  values[0] = Value(arena.map(wrong));
  EXPECT_EQ(show("pool.name + 'x'"), "error: operator `+` cannot take string and int");
  EXPECT_EQ(show("pool.name.startsWith('x')"), "error: `startsWith` cannot take (int, string)");
  EXPECT_EQ(show("pool.name.matches('x')"), "error: `matches` cannot take (int, string)");
  EXPECT_EQ(show("pool.tags.all(t, true)"), "error: `all` wants a list or a map, not string");
  EXPECT_EQ(show("pool.replicas"), "error: no such key `replicas`");
  values = {};
  EXPECT_EQ(show("pool.name"), "error: no value for `pool`");
}

TEST_F(Evaluate, HandlesListsOfOpaqueValues) {
  EXPECT_EQ(show("[ip('10.0.0.1'), ip('10.0.0.2')].exists(i, i == ip('10.0.0.2'))"), "true");
  EXPECT_EQ(show("['10.0.0.0/8', '::/0'].map(c, cidr(c)).map(c, c.prefixLength())"), "[8,0]");
  EXPECT_EQ(show("[ip('10.0.0.1')].size() == 1 || true"), "true");
  EXPECT_EQ(show("ip('10.0.0.1') in ['10.0.0.1'].map(i, ip(i))"), "true");
  EXPECT_EQ(show("([ip('10.0.0.1')] + [ip('10.0.0.2')])[1] == ip('10.0.0.2')"), "true");
  EXPECT_EQ(show("{'a': ip('::1')}"), "error: a map cannot hold a value of type ip");
}

TEST_F(Evaluate, ResultsOutliveTheProgram) {
  const char* texts[] = {"'literal text that is long enough for the heap'",
                         "['literal text that is long enough for the heap', 'b']",
                         "{'key that is rather long for a key': 'and its value, as well'}",
                         "{'a': 'some text that lives in the program'}.a",
                         "['some text that lives in the program'][0]",
                         "['some text that lives in the program'].filter(x, true)",
                         "true ? 'some text that lives in the program' : ''",
                         "'some text that lives in the program'.substring(3)",
                         "'AB'.lowerAscii()",
                         "dyn('some text that lives in the program')",
                         "optional.of(['some text that lives in the program']).value()",
                         "optional.none().orValue('some text that lives in the program')",
                         "format.uuid().validate('x').value()"};
  std::vector<Outcome> outcomes;
  for (const char* text : texts) outcomes.push_back(run(text));
  for (const Outcome& outcome : outcomes) {
    ASSERT_TRUE(outcome.ok());
    EXPECT_FALSE(yaml::emit_json(outcome.value.node()).empty());
  }
}

TEST_F(Evaluate, StopsAtTheBudget) {
  const std::string ten = "[1,2,3,4,5,6,7,8,9,10]";
  std::string nested = "true";
  for (int i = 0; i < 8; ++i) nested = ten + ".all(x" + std::to_string(i) + ", " + nested + ")";
  std::string doubled = "['0123456789']";
  for (int i = 0; i < 40; ++i) doubled += ".map(x, x + x)";
  std::string lists = "[[1, 2]]";
  for (int i = 0; i < 40; ++i) lists += ".map(x, x + x)";
  const std::string hungry[] = {
      nested,
      doubled,
      lists,
      "lists.range(9223372036854775807)",
      "lists.range(100000).map(x, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').join().replace('a', "
      "'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb')",
      "lists.range(100000).distinct().size() > 0",
  };
  for (const std::string& text : hungry) {
    const Outcome outcome = run(text);
    ASSERT_FALSE(outcome.ok()) << text;
    EXPECT_EQ(outcome.error->kind, EvalError::Kind::budget) << text;
  }
  EXPECT_EQ(show("lists.range(1000).map(x, x * 2).size()"), "1000");
}

TEST_F(Evaluate, IsSafeToShare) {
  std::vector<Problem> problems;
  const auto program =
      compile("pool.tags.map(t, t + '-' + pool.name).join(',').matches('^x-a100,y')", environment,
              problems);
  ASSERT_NE(program, nullptr);
  std::vector<int> good(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < good.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 500; ++k) {
        yaml::Arena own;
        good[i] += evaluate(*program, values, own).value.node().as_boolean() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 500));
}

}  // namespace
}  // namespace gpuctl::cel
