#include "cel/store.hpp"

#include <gtest/gtest.h>

#include "yaml/emit.hpp"

namespace gpuctl::cel {
namespace {

Environment environment(std::shared_ptr<Store> store) {
  auto pool = std::make_shared<ObjectType>();
  pool->name = "pool";
  pool->fields = {{"name", Type::simple(TypeKind::string), true},
                  {"size", Type::simple(TypeKind::integer), false}};
  Environment out;
  out.variables = {{"pools", Type::list(Type::object(pool))}, {"any", Type::dyn()}};
  out.store = std::move(store);
  return out;
}

// One expression of each kind of operation, some of which fail on the values below.
const std::vector<std::string>& expressions() {
  static const std::vector<std::string> all = {
      "pools.map(p, p.name).join(',')",
      "pools.filter(p, has(p.size) && p.size > 1).size()",
      "pools[0].name.matches('^a[bc]$') ? [1, 2.5, true, null] : []",
      "{'a': pools[0].name, 'b': {'c': [1]}}",
      "type(any) == map && 'x' in any",
      "any.x.y",
      "pools[7].name",
      "any.nothing",
      "pools.all(p, p.size < 10) || any.x.y == 3",
      "any.?nothing.orValue('none')",
      "[?any.?nothing, ?any.?x]",
      "cel.bind(n, size(pools), n * n - 1)",
      "1 / (size(pools) - 2)",
      "pools.exists(p, p.name == 'none') ? omit() : 'x' + pools[1].name",
      "quantity('1Gi').isGreaterThan(quantity('1Mi'))",
      "'%s has %d'.format([pools[0].name, size(pools)])",
      "pools.sortBy(p, p.name)[0].name",
      "-9223372036854775808 + size(pools)",
      "any.optMap(v, v)",
      "format.dns1123Label().validate(pools[0].name).hasValue()",
      "duration('1h') > duration('30m') || any.x.y == 1",
  };
  return all;
}

std::string describe(const Outcome& outcome) {
  if (outcome.ok()) {
    return outcome.value.is_node() ? yaml::emit_json(outcome.value.node())
                                   : outcome.value.opaque()->type_name();
  }
  const EvalError& error = *outcome.error;
  return "error " + error.message + " at " + std::to_string(error.begin) + "-" +
         std::to_string(error.end) + " path " + error.path;
}

TEST(Store, GivesAndSaysWhatTheTextDoes) {
  const auto recorder = std::make_shared<Store>();
  const Environment recording = environment(recorder);
  std::vector<Problem> problems;
  std::vector<std::shared_ptr<const Program>> plain;
  for (const std::string& text : expressions()) plain.push_back(compile(text, recording, problems));
  Store::Records records;
  const std::string bytes = recorder->packed(records);
  const Environment stored = environment(Store::open(bytes, records.bytes()));
  yaml::Arena arena;
  const auto pool = [&](const char* name) {
    const yaml::Entry fields[] = {arena.entry("name", arena.string(name, 7)),
                                  arena.entry("size", yaml::Node::integer(3, 8))};
    return arena.map(fields, 9);
  };
  const yaml::Node pools[] = {pool("ab"), pool("xy")};
  const yaml::Entry inner[] = {arena.entry("y", yaml::Node::integer(5, 3))};
  const yaml::Entry outer[] = {arena.entry("x", arena.map(inner, 4))};
  const std::vector<Value> values = {Value(arena.list(pools, 5)), Value(arena.map(outer, 6))};
  std::size_t found = 0;
  std::size_t without_program = 0;
  for (std::size_t i = 0; i < expressions().size(); ++i) {
    const auto again = compile(expressions()[i], stored, problems);
    if (plain[i] == nullptr) {
      EXPECT_EQ(again, nullptr) << expressions()[i];
      ++without_program;
      continue;
    }
    ASSERT_NE(again, nullptr) << expressions()[i];
    if (is_stored(*again)) ++found;
    std::vector<yaml::Origin> reads;
    std::vector<yaml::Origin> reads_again;
    EXPECT_EQ(describe(evaluate(*again, values, arena, &reads_again)),
              describe(evaluate(*plain[i], values, arena, &reads)))
        << expressions()[i];
    EXPECT_EQ(reads_again, reads) << expressions()[i];
    EXPECT_EQ(type_of(*again).text(), type_of(*plain[i]).text());
    EXPECT_EQ(print(*again), print(*plain[i]));
    EXPECT_EQ(variables_of(*again), variables_of(*plain[i]));
  }
  EXPECT_EQ(found + without_program, expressions().size());
}

TEST(Store, LeavesOutWhatItDoesNotKnow) {
  const auto recorder = std::make_shared<Store>();
  std::vector<Problem> problems;
  ASSERT_NE(compile("size(pools)", environment(recorder), problems), nullptr);
  Store::Records records;
  const std::string bytes = recorder->packed(records);
  const Environment stored = environment(Store::open(bytes, records.bytes()));
  EXPECT_TRUE(is_stored(*compile("size(pools)", stored, problems)));
  EXPECT_FALSE(is_stored(*compile("size(pools) ", stored, problems)));
  Environment other = stored;
  other.variables.push_back({"more", Type::dyn()});
  EXPECT_FALSE(is_stored(*compile("size(pools)", other, problems)));
  EXPECT_EQ(compile("size(polls)", stored, problems), nullptr);
  EXPECT_FALSE(problems.empty());
}

TEST(Store, TellsContainersAndManyTextsApart) {
  const auto recorder = std::make_shared<Store>();
  std::vector<Problem> problems;
  Environment first;
  first.variables = {{"x", Type::simple(TypeKind::integer)}};
  first.container = "one";
  first.store = recorder;
  Environment second = first;
  second.variables = {{"x", Type::simple(TypeKind::string)}};
  second.container = "two";
  for (int i = 0; i < 100; ++i) {
    compile("x == " + std::to_string(i), first, problems);
    compile("x == '" + std::to_string(i) + "'", second, problems);
  }
  ASSERT_NE(compile("x + x", first, problems), nullptr);
  ASSERT_NE(compile("x + x", second, problems), nullptr);
  ASSERT_TRUE(problems.empty());
  Store::Records records;
  const std::string bytes = recorder->packed(records);
  first.store = second.store = Store::open(bytes, records.bytes());
  yaml::Arena arena;
  const std::vector<Value> number = {Value(yaml::Node::integer(7))};
  const std::vector<Value> text = {Value(yaml::Node::view("7"))};
  for (int i = 0; i < 100; ++i) {
    const auto with_number = compile("x == " + std::to_string(i), first, problems);
    const auto with_text = compile("x == '" + std::to_string(i) + "'", second, problems);
    ASSERT_TRUE(is_stored(*with_number));
    ASSERT_TRUE(is_stored(*with_text));
    EXPECT_EQ(describe(evaluate(*with_number, number, arena)), i == 7 ? "true" : "false");
    EXPECT_EQ(describe(evaluate(*with_text, text, arena)), i == 7 ? "true" : "false");
  }
  EXPECT_EQ(describe(evaluate(*compile("x + x", first, problems), number, arena)), "14");
  EXPECT_EQ(describe(evaluate(*compile("x + x", second, problems), text, arena)), "\"77\"");
}

TEST(Store, TellsVariablesApartByTheirDefinitions) {
  const auto recorder = std::make_shared<Store>();
  std::vector<Problem> problems;
  Environment number;
  number.store = recorder;
  number.variables.push_back({"x", Type::simple(TypeKind::integer)}, "1 + 1");
  Environment text;
  text.store = recorder;
  text.variables.push_back({"x", Type::simple(TypeKind::string)}, "'1' + '1'");
  compile("x + x", number, problems);
  compile("x + x", text, problems);
  Store::Records records;
  const std::string bytes = recorder->packed(records);
  number.store = text.store = Store::open(bytes, records.bytes());
  yaml::Arena arena;
  const auto sum = compile("x + x", number, problems);
  const auto joined = compile("x + x", text, problems);
  ASSERT_TRUE(is_stored(*sum) && is_stored(*joined));
  const std::vector<Value> two = {Value(yaml::Node::integer(2))};
  const std::vector<Value> eleven = {Value(yaml::Node::view("11"))};
  EXPECT_EQ(describe(evaluate(*sum, two, arena)), "4");
  EXPECT_EQ(describe(evaluate(*joined, eleven, arena)), "\"1111\"");
  text.variables.shrink(0);
  text.variables.push_back({"x", Type::simple(TypeKind::string)}, "'2'");
  EXPECT_FALSE(is_stored(*compile("x + x", text, problems)));
}

TEST(Store, AnAttemptSaysWhatKindOfFaultThereIs) {
  const auto recorder = std::make_shared<Store>();
  std::vector<Problem> problems;
  compile("any.nothing", environment(recorder), problems);
  Store::Records records;
  const std::string bytes = recorder->packed(records);
  const auto program =
      compile("any.nothing", environment(Store::open(bytes, records.bytes())), problems);
  ASSERT_TRUE(is_stored(*program));
  yaml::Arena arena;
  const yaml::Node empty = arena.map(std::span<const yaml::Entry>());
  const std::vector<Value> values = {Value(arena.list(std::span<const yaml::Node>())),
                                     Value(empty)};
  const Outcome outcome = attempt(*program, values, arena);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error->kind, EvalError::Kind::no_such_key);
}

TEST(Store, DropsATextThatStandsForTwoPrograms) {
  const auto recorder = std::make_shared<Store>();
  std::vector<Problem> problems;
  Environment numbers;
  numbers.store = recorder;
  numbers.variables = {{"x", Type::simple(TypeKind::integer)}};
  Environment texts = numbers;
  texts.variables = {{"x", Type::simple(TypeKind::string)}};
  ASSERT_NE(compile("x + x", numbers, problems), nullptr);
  ASSERT_NE(compile("x + x", texts, problems), nullptr);
  Store::Records records;
  const std::string bytes = recorder->packed(records);
  numbers.store = Store::open(bytes, records.bytes());
  EXPECT_FALSE(is_stored(*compile("x + x", numbers, problems)));
}

TEST(Store, KeepsWhatIsAlikeInTwoStoresOnce) {
  Store::Records records;
  std::vector<Problem> problems;
  const auto recorded = [&](std::initializer_list<const char*> texts) {
    const auto store = std::make_shared<Store>();
    for (const char* text : texts) compile(text, environment(store), problems);
    return store->packed(records);
  };
  const std::string one = recorded({"pools.size() > 1", "pools.size() > 2"});
  const std::size_t size = records.bytes().size();
  EXPECT_EQ(recorded({"pools.size() > 1", "pools.size() > 2"}), one);
  EXPECT_EQ(records.bytes().size(), size);
  const std::string other = recorded({"pools.size() > 2", "pools.size() > 3"});
  EXPECT_GT(records.bytes().size(), size);
  ASSERT_TRUE(problems.empty());
  // Each finds its own, and no other's.
  const auto finds = [&](const std::string& index, const char* text) {
    const auto store = Store::open(index, records.bytes());
    return store->find(text, environment(store)) != nullptr;
  };
  EXPECT_TRUE(finds(one, "pools.size() > 1"));
  EXPECT_FALSE(finds(one, "pools.size() > 3"));
  EXPECT_TRUE(finds(other, "pools.size() > 2"));
  EXPECT_TRUE(finds(other, "pools.size() > 3"));
  EXPECT_FALSE(finds(other, "pools.size() > 1"));
}

}  // namespace
}  // namespace gpuctl::cel
