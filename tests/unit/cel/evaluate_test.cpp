#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "cel/collections.hpp"
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

  /// JSON of the value, or `type!` for an opaque one, or `error: ...` or `problem: ...`.
  std::string show(const std::string& text) {
    std::vector<Problem> problems;
    const auto program = compile(text, environment, problems);
    if (program == nullptr) return "problem: " + problems.front().message;
    const Outcome outcome = evaluate(*program, values, arena);
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
  EXPECT_EQ(show("[ip('::1'), ip('::2'), ip('::1')].distinct().size()"), "2");
  EXPECT_EQ(show("[ip('::1'), ip('::2')].indexOf(ip('::2'))"), "1");
  EXPECT_EQ(show("[[ip('::1')], [ip('::2')]].flatten().slice(1, 2)[0] == ip('::2')"), "true");
  EXPECT_EQ(show("[duration('2h'), duration('1h')].sort()[0] == duration('1h')"), "true");
  EXPECT_EQ(show("[duration('2h'), duration('30m')].sum() == duration('150m')"), "true");
  EXPECT_EQ(show("[duration('2h'), 1].sum()"), "error: `sum` cannot add int");
  EXPECT_EQ(show("[duration('2h'), duration('30m')].min() == duration('30m')"), "true");
  EXPECT_EQ(show("[ip('::1'), ip('::2')].sort()"), "error: `sort` cannot order ip and ip");
}

TEST_F(Evaluate, HandlesMapsOfOpaqueValues) {
  EXPECT_EQ(show("{'a': ip('::1')}.a == ip('::1')"), "true");
  EXPECT_EQ(show("{'a': ip('::1')}['a'].family()"), "6");
  EXPECT_EQ(show("{'a': ip('::1'), 'b': 'text'}.b"), "\"text\"");
  EXPECT_EQ(show("has({'a': ip('::1')}.a) && !has({'a': ip('::1')}.b)"), "true");
  EXPECT_EQ(show("{'a': ip('::1')}.b"), "error: no such key `b`");
  EXPECT_EQ(show("'a' in {'a': ip('::1')}"), "true");
  EXPECT_EQ(show("{'a': ip('::1')}.all(k, v, k == 'a' && v.isLoopback())"), "true");
  EXPECT_EQ(show("['::1'].transformMap(i, t, ip(t))[0].isLoopback()"), "true");
  EXPECT_EQ(show("{'a': 1}.merge({'b': ip('::1')}).size()"), "2");
  EXPECT_EQ(show("{'a': ip('::1'), 'b': 1} == {'b': 1, 'a': ip('0::1')}"), "true");
  EXPECT_EQ(show("{'a': ip('::1')} == {'a': ip('::2')}"), "false");
  EXPECT_EQ(show("{'a': ip('::1')} == {'a': dyn(1)}"), "false");
  EXPECT_EQ(show("{1: ip('::1'), 1: ip('::2')}"), "error: repeated key 1");
  // What a document cannot hold is named.
  EXPECT_EQ(foreign_type(run("{'a': [1, {'b': ip('::1')}]}").value), "ip");
  EXPECT_EQ(foreign_type(run("[optional.none()]").value), "optional");
}

TEST_F(Evaluate, KnowsOptionals) {
  const std::pair<const char*, const char*> cases[] = {
      {"pool.?name.orValue('none')", "\"a100\""},
      {"{'a': 1}.?b.orValue(2)", "2"},
      {"[1, 2][?5].hasValue()", "false"},
      {"[1, 2][?-1].hasValue()", "false"},
      {"[1, 2][?1].value()", "2"},
      {"{'a': {'b': 1}}.?a.b.value()", "1"},
      {"{'a': {'b': 1}}.?a.c.hasValue()", "false"},
      {"{'a': [1]}.?a[0].value() + {'a': [1]}.?a[?7].orValue(3)", "4"},
      {"has({'a': {'b': 1}}.?a.b)", "true"},
      {"has({}.?a.b)", "false"},
      {"{'a': 1}.?a.b", "problem: cannot select field `b` of int"},
      {"{'a': 1}.?a[0]", "problem: cannot index int"},
      {"dyn(1).?a.hasValue() || dyn(null).?a.hasValue()", "false"},
      {"dyn([1]).?a", "error: cannot select field `a` of list"},
      {"[1][?'a']", "problem: the index of a list must be int, not string"},
      {"[?optional.of(1), ?optional.none(), 2]", "[1,2]"},
      {"[?dyn(1)]", "error: what follows `?` must be optional, not int"},
      {"[?1]", "problem: what follows `?` must be optional, not int"},
      {"{?'a': optional.none(), ?'b': optional.of(1), 'c': 2}", "{\"b\":1,\"c\":2}"},
      {"{?'a': 1}", "problem: what follows `?` must be optional, not int"},
      {"optional.of(1).orValue(1 / 0)", "1"},
      {"optional.none().orValue(1 / 0)", "error: division by zero"},
      {"optional.of(1).or(dyn(2)).value()", "1"},
      {"optional.none().or(dyn(2))", "error: `or` wants an optional, not int"},
      {"optional.of(1).orValue('a')", "problem: `orValue` wants int here, not string"},
      {"optional.of(1).or(optional.of('a'))", "problem: `or` wants int here, not string"},
      {"dyn(1).orValue(2)", "error: `orValue` wants an optional, not int"},
      {"optional.of(20).optMap(v, v + 1).value()", "21"},
      {"optional.none().optMap(v, v + 1).hasValue()", "false"},
      {"optional.of({'a': 1}).optFlatMap(v, v.?a).value()", "1"},
      {"optional.of(1).optFlatMap(v, v)",
       "problem: the body of `optFlatMap` must be optional, not int"},
      {"optional.of(1).optFlatMap(v, dyn(v))",
       "error: the body of `optFlatMap` must be optional, not int"},
      {"dyn(1).optMap(v, v)", "error: `optMap` wants an optional, not int"},
      {"[1].optMap(v, v)", "problem: `optMap` wants an optional, not list(int)"},
      {"[optional.of(1), optional.none()].unwrapOpt() + optional.unwrap([optional.of(2)])",
       "[1,2]"},
      {"[[], {}, '', 0, 0.0, false, null].exists(x, optional.ofNonZeroValue(x).hasValue())",
       "false"},
      {"[[0], {1: 1}, ' ', 1, 0.1, true].all(x, optional.ofNonZeroValue(x).hasValue())", "true"},
      {"[].first().hasValue() || [].last().hasValue()", "false"},
      {"[1, 2].first().value() - [1, 2].last().value()", "-1"},
      {"type(optional.none()) == optional_type", "true"},
      {"cel.bind(o, facts.?none, o.hasValue() ? o.value() : 'x')", "\"x\""},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(show(text), expected) << text;
}

TEST_F(Evaluate, BindsNames) {
  EXPECT_EQ(show("cel.bind(x, 2, x * x)"), "4");
  EXPECT_EQ(show("cel.bind(x, 2, cel.bind(y, x + 1, x * y)) + cel.bind(x, 10, x)"), "16");
  EXPECT_EQ(show("[1, 2].map(i, cel.bind(j, i * 10, [1].map(k, i + j + k)[0]))"), "[12,23]");
  EXPECT_EQ(show("cel.bind(pool, 1, pool)"), "1");
  EXPECT_EQ(show("cel.bind(x, 1 / 0, true || x == 1)"), "true");
  EXPECT_EQ(show("cel.bind(x, 1 / 0, [1].map(i, i + x))"), "error: division by zero");
  EXPECT_EQ(show("cel.bind(x, [1 / 0], size(x) + x[0])"), "error: division by zero");
  EXPECT_EQ(show("cel.bind(x, 1, y)"), "problem: undeclared name `y`");
  EXPECT_EQ(show("cel.bind(x, 1, 2) + x"), "problem: undeclared name `x`");
  EXPECT_EQ(show("cel.block([1], 2)"), "problem: `cel.block` is not supported");
}

TEST_F(Evaluate, SortsByKeys) {
  EXPECT_EQ(show("['ccc', 'a', 'bb'].sortBy(s, size(s))"), "[\"a\",\"bb\",\"ccc\"]");
  EXPECT_EQ(show("[3, 1, 2].sortBy(x, -x)"), "[3,2,1]");
  EXPECT_EQ(show("['b1', 'a2', 'b0', 'a1'].sortBy(s, s.charAt(0))"),
            "[\"a2\",\"a1\",\"b1\",\"b0\"]");
  EXPECT_EQ(show("['2h', '30m'].sortBy(t, duration(t))[0]"), "\"30m\"");
  EXPECT_EQ(show("['::2', '::1'].map(t, ip(t)).sortBy(i, string(i))[0] == ip('::1')"), "true");
  EXPECT_EQ(show("[].sortBy(x, x)"), "[]");
  EXPECT_EQ(show("[1, 2].sortBy(x, [x])"), "problem: `sortBy` cannot order list(int)");
  EXPECT_EQ(show("[1, 'a'].sortBy(x, x)"), "error: `sortBy` cannot order keys of type string");
  EXPECT_EQ(show("[1.0].sortBy(x, 0.0 / 0.0)"), "error: `sortBy` cannot order NaN");
  EXPECT_EQ(show("{'a': 1}.sortBy(x, x)"), "problem: `sortBy` wants a list, not map(string, int)");
  EXPECT_EQ(show("dyn({'a': 1}).sortBy(x, x)"), "error: `sortBy` wants a list, not map");
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
                         "format.uuid().validate('x').value()",
                         "{'a': ip('::1'), 'b': 'some text that lives in the program'}.b",
                         "{'a': 'some text that lives in the program'}.?a.value()",
                         "['some text that lives in the program'][?0].value()",
                         "['some text that lives in the program'].first().value()",
                         "cel.bind(x, ['some text that lives in the program'], x[0])",
                         "optional.of(['some text that lives here']).optMap(x, x[0]).value()",
                         "['some text that lives in the program'].sortBy(x, 1)",
                         "'some text that lives in the program'.find('text that.*')",
                         "'some text that lives in the program'.findAll('[a-z]+')",
                         "[?optional.of('some text that lives in the program')]"};
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
  // `x` is a list of twice the same list of twice the same list and so on.
  const auto bound = [](const std::string& body) {
    constexpr int kDeep = 50;
    std::string text = body;
    for (int i = 0; i < kDeep; ++i) {
      const std::string name = i == 0 ? "x" : "y" + std::to_string(i);
      const std::string part = i + 1 == kDeep ? "1" : "y" + std::to_string(i + 1);
      text = "cel.bind(" + name + ", [" + part + ", " + part + "], " + text + ")";
    }
    return text;
  };
  const std::string hungry[] = {
      nested,
      doubled,
      lists,
      "lists.range(9223372036854775807)",
      "lists.range(100000).map(x, 'aaaaaaaaaaaaaaaaaaaa').join().replace('a', 'bbbbbbbbbb')",
      "lists.range(100000).distinct().size() > 0",
      "lists.range(100000).all(i, lists.range(i).size() == i)",
      // Small to build, huge when walked: compared, written out, put into text.
      bound("x == x"),
      bound("x"),
      bound("[x, ip('::1')]"),
      bound("optional.of(x)"),
      bound("'%s'.format([x])"),
      bound("[x].indexOf(x)"),
      bound("x in [[x], x]"),
      // Text searched for text, in the worst case.
      "cel.bind(a, lists.range(500000).map(i, 'a').join(), a.contains(a.substring(1) + 'b'))",
      "cel.bind(a, lists.range(500000).map(i, 'a').join(), a.split(a.substring(9) + 'b').size())",
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
