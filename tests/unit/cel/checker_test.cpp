#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cel/ast.hpp"
#include "cel/program.hpp"

namespace gpuctl::cel {
namespace {

Type of(TypeKind kind) {
  return Type::simple(kind);
}

Type object(std::string name, std::vector<Field> fields, bool open = false) {
  auto made = std::make_shared<ObjectType>();
  made->name = std::move(name);
  made->fields = std::move(fields);
  made->open = open;
  return Type::object(std::move(made));
}

Environment environment() {
  const Type mig = object("Mig", {{"strategy", of(TypeKind::string), true}});
  const Type pool =
      object("Pool", {{"name", of(TypeKind::string), true},
                      {"replicas", of(TypeKind::integer), false},
                      {"price", of(TypeKind::real), false},
                      {"mig", mig, false},
                      {"labels", Type::map(of(TypeKind::string), of(TypeKind::string)), false}});
  Environment made;
  made.variables = {{"cluster", Type::dyn()},
                    {"pool", pool},
                    {"pools", Type::list(pool)},
                    {"open", object("Open", {{"a", of(TypeKind::integer), true}}, true)},
                    {"names", Type::list(of(TypeKind::string))},
                    {"counts", Type::map(of(TypeKind::string), of(TypeKind::integer))}};
  return made;
}

TEST(Checker, InfersTypes) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "int"},
      {"1 + 2", "int"},
      {"1.5 * 2.0", "double"},
      {"'a' + 'b'", "string"},
      {"cluster", "dyn"},
      {"cluster.x", "dyn"},
      {"cluster.x + 1", "int"},
      {"'a' + cluster.x", "string"},
      {"cluster.x + cluster.y", "dyn"},
      {"1 < 2", "bool"},
      {"1 == 1.0", "bool"},
      {"1 < 1.5", "bool"},
      {"pool.name", "string"},
      {"pool.mig", "object Mig"},
      {"pool.mig.strategy", "string"},
      {"pool['replicas']", "int"},
      {"pool.labels.x", "string"},
      {"pool.labels[pool.name]", "string"},
      {"open.a", "int"},
      {"open.b", "dyn"},
      {"pools[0].replicas", "int"},
      {"has(pool.mig)", "bool"},
      {"[1, 2]", "list(int)"},
      {"[1, 'a']", "list(dyn)"},
      {"[]", "list(dyn)"},
      {"{'a': 1}", "map(string, int)"},
      {"{'a': 1, 'b': 'c'}", "map(string, dyn)"},
      {"pools.map(p, p.name)", "list(string)"},
      {"pools.filter(p, p.replicas > 1)", "list(object Pool)"},
      {"pools.all(i, p, i >= 0 && p.name != '')", "bool"},
      {"counts.map(k, k)", "list(string)"},
      {"counts.transformList(k, v, v)", "list(int)"},
      {"counts.transformMap(k, v, string(v))", "map(string, string)"},
      {"names.transformMap(i, v, v)", "map(int, string)"},
      {"names.transformMapEntry(i, v, {v: i})", "map(string, int)"},
      {"true ? 1 : 2", "int"},
      {"true ? 'a' : omit()", "dyn"},
      {"true ? 'a' : null", "dyn"},
      {"true ? pool.mig : {}", "map(string, dyn)"},
      {"size(names)", "int"},
      {"names.size()", "int"},
      {"names.distinct()", "list(string)"},
      {"names.sort().reverse()", "list(string)"},
      {"[[1], [2]].flatten()", "list(int)"},
      {"[1, 2].max()", "int"},
      {"math.greatest(1, 2)", "int"},
      {"math.greatest([1.0])", "double"},
      {"names.join(',')", "string"},
      {"'a'.split(',')", "list(string)"},
      {"counts.merge(counts)", "map(string, int)"},
      {"ip('1.2.3.4')", "ip"},
      {"cidr('10.0.0.0/8').ip()", "ip"},
      {"type(1)", "type"},
      {"int", "type"},
      {"optional.of(1).value()", "int"},
      {"ssh.publicKey('x').valid", "bool"},
      {"pem.certificates('')[0].subject", "string"},
      {"pool.name + '-' + pools[0].name", "string"},
  };
  const Environment env = environment();
  for (const auto& [text, type] : cases) {
    std::vector<Problem> problems;
    const auto program = compile(text, env, problems);
    ASSERT_NE(program, nullptr) << text << ": " << problems.front().message;
    EXPECT_EQ(type_of(*program).text(), type) << text;
  }
}

struct Fault {
  const char* text = nullptr;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  const char* message = nullptr;
  const char* help = "";
};

TEST(Checker, ReportsFaultsAtTheirPlace) {
  const Fault faults[] = {
      {"polo", 0, 4, "undeclared name `polo`", "did you mean `pool`?"},
      {"zebra", 0, 5, "undeclared name `zebra`"},
      {"pool.nme", 5, 8, "`pool` has no field `nme`", "did you mean `name`?"},
      {"has(pool.migg)", 9, 13, "`pool` has no field `migg`", "did you mean `mig`?"},
      {"pool['nme']", 5, 10, "`pool` has no field `nme`", "did you mean `name`?"},
      {"pools[0].mig.stratgy", 13, 20, "`pools[0].mig` has no field `stratgy`",
       "did you mean `strategy`?"},
      {"pools.map(p, p.nam)", 15, 18, "`p` has no field `nam`", "did you mean `name`?"},
      {"pool.name.x", 10, 11, "cannot select field `x` of string"},
      {"names.x", 6, 7, "cannot select field `x` of list(string)"},
      {"names['a']", 6, 9, "the index of a list must be int, not string"},
      {"counts[1]", 7, 8, "the keys of map(string, int) are string, not int"},
      {"1[0]", 0, 4, "cannot index int"},
      {"1 + 'a'", 0, 7, "operator `+` cannot take int and string", "convert with `string(...)`"},
      {"pool.name + pool.replicas", 0, 25, "operator `+` cannot take string and int",
       "convert with `string(...)`"},
      {"1 + 1.5", 0, 7, "operator `+` cannot take int and double",
       "convert with `double(...)` or `int(...)`"},
      {"1.5 % 2.0", 0, 9, "operator `%` cannot take double and double"},
      {"pool.name == 1", 0, 14, "operator `==` cannot take string and int",
       "convert with `string(...)`"},
      {"names == counts", 0, 15, "operator `==` cannot take list(string) and map(string, int)"},
      {"[1] < [2]", 0, 9, "operator `<` cannot take list(int) and list(int)"},
      {"1 in 'a'", 0, 8, "operator `in` cannot take int and string",
       "for text: `text.contains(part)`"},
      {"1 in names", 0, 10, "operator `in` cannot take int and list(string)"},
      {"1 && true", 0, 1, "operator `&&` wants bool, not int"},
      {"!1", 0, 2, "operator `!` cannot take int"},
      {"-'a'", 0, 4, "operator `-` cannot take string"},
      {"1 ? 2 : 3", 0, 1, "the condition of `? :` must be bool, not int"},
      {"true ? 1 : 'a'", 7, 14, "the branches of `? :` have different types, int and string",
       "make them one type, or wrap one in `dyn(...)` when both are meant"},
      {"{1.5: 2}", 1, 4, "a key of a map must be string, int or bool, not double"},
      {"nofn(1)", 0, 4, "unknown function `nofn`"},
      {"siz(names)", 0, 3, "unknown function `siz`", "did you mean `size`?"},
      {"pool.name.lowerAsci()", 10, 19, "unknown function `lowerAsci` on string",
       "did you mean `lowerAscii`?"},
      {"names.exist(x, true)", 6, 11, "unknown function `exist` on list(string)",
       "did you mean `exists`?"},
      {"math.greatst(1)", 0, 12, "unknown function `math.greatst`",
       "did you mean `math.greatest`?"},
      {"lowerAscii('A')", 0, 10, "`lowerAscii` is a method and no function",
       "write `x.lowerAscii(...)`"},
      {"'1'.int()", 4, 7, "`int` is a function and no method", "write `int(...)`"},
      {"names.all(x)", 6, 9, "`all` has no form with 1 arguments",
       "for example `list.all(item, ...)`"},
      {"'a'.startsWith(1)", 4, 14, "`startsWith` cannot take (int) on string",
       "there is `string.startsWith(string)`"},
      {"size(1)", 0, 4, "`size` cannot take (int)",
       "there is `size(string)`, `size(list(dyn))`, `size(map(dyn, dyn))`"},
      {"pool.name.matches('(')", 18, 21, "the pattern is no regular expression: missing ): (",
       "patterns are written in RE2 syntax"},
      {"1.all(x, true)", 0, 1, "`all` wants a list or a map, not int"},
      {"names.filter(x, 1)", 16, 17, "the test of `filter` must be bool, not int"},
      {"names.transformMapEntry(i, v, 1)", 30, 31,
       "`transformMapEntry` wants a map for each item, not int"},
      {"timestamp('x')", 0, 9, "`timestamp` is not supported",
       "there is no clock and no calendar in expressions"},
      {"uint(1)", 0, 4, "`uint` is not supported", "use `int`"},
      {"polo.name.size()", 0, 4, "undeclared name `polo`", "did you mean `pool`?"},
  };
  const Environment env = environment();
  for (const Fault& fault : faults) {
    std::vector<Problem> problems;
    EXPECT_EQ(compile(fault.text, env, problems), nullptr) << fault.text;
    ASSERT_EQ(problems.size(), 1U) << fault.text;
    EXPECT_EQ(problems[0].message, fault.message) << fault.text;
    EXPECT_EQ(problems[0].help, fault.help) << fault.text;
    EXPECT_EQ(problems[0].begin, fault.begin) << fault.text;
    EXPECT_EQ(problems[0].end, fault.end) << fault.text;
    EXPECT_FALSE(problems[0].syntax) << fault.text;
  }
}

TEST(Checker, ReportsAllFaultsInOrder) {
  std::vector<Problem> problems;
  EXPECT_EQ(compile("polo + pool.nme + nofn()", environment(), problems), nullptr);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].message, "undeclared name `polo`");
  EXPECT_EQ(problems[1].message, "`pool` has no field `nme`");
  EXPECT_EQ(problems[2].message, "unknown function `nofn`");
}

TEST(Checker, KnowsWhatIsRead) {
  std::vector<Problem> problems;
  const auto program = compile("names.map(cluster, cluster + pool.name)", environment(), problems);
  ASSERT_NE(program, nullptr);
  // The loop variable hides the variable of the same name.
  EXPECT_EQ(variables_of(*program), (std::vector<std::string>{"pool", "names"}));
  EXPECT_EQ(source(*program), "names.map(cluster, cluster + pool.name)");
  EXPECT_EQ(dump(tree(*program)), "(macro map cluster names (+ cluster (. pool \"name\")))");
}

TEST(Types, Accept) {
  const Type any = Type::dyn();
  const Type text = of(TypeKind::string);
  const Type number = of(TypeKind::integer);
  const Type pool = object("Pool", {{"name", text, true}});
  EXPECT_TRUE(any.accepts(text));
  EXPECT_TRUE(text.accepts(any));
  EXPECT_FALSE(of(TypeKind::real).accepts(number));
  EXPECT_FALSE(text.accepts(number));
  EXPECT_TRUE(Type::list(any).accepts(Type::list(text)));
  EXPECT_TRUE(Type::list(text).accepts(Type::list(any)));
  EXPECT_FALSE(Type::list(text).accepts(Type::list(number)));
  EXPECT_TRUE(Type::map(text, any).accepts(pool));
  EXPECT_TRUE(Type::map(text, text).accepts(pool));
  EXPECT_FALSE(Type::map(text, number).accepts(pool));
  EXPECT_FALSE(Type::map(number, any).accepts(pool));
  EXPECT_TRUE(pool.accepts(pool));
  EXPECT_TRUE(pool.accepts(object("Other", {{"name", text, true}, {"more", text, true}})));
  EXPECT_FALSE(pool.accepts(object("Other", {{"more", text, true}})));
  EXPECT_FALSE(pool.accepts(text));
  EXPECT_TRUE(Type::opaque("ip").accepts(Type::opaque("ip")));
  EXPECT_FALSE(Type::opaque("ip").accepts(Type::opaque("cidr")));
  EXPECT_TRUE(Type::optional(any).accepts(Type::optional(text)));
  EXPECT_EQ(Type::map(text, Type::list(pool)).text(), "map(string, list(object Pool))");
}

}  // namespace
}  // namespace gpuctl::cel
