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
  const std::string bytes = recorder->packed();
  const Environment stored = environment(Store::open(bytes));
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
  for (std::size_t i = 0; i < expressions().size(); ++i) {
    const auto again = compile(expressions()[i], stored, problems);
    if (plain[i] == nullptr) {
      EXPECT_EQ(again, nullptr) << expressions()[i];
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
  // All but the ones with a constant that no bytes can hold.
  EXPECT_GE(found + 2, expressions().size());
}

TEST(Store, LeavesOutWhatItDoesNotKnow) {
  const auto recorder = std::make_shared<Store>();
  std::vector<Problem> problems;
  ASSERT_NE(compile("size(pools)", environment(recorder), problems), nullptr);
  const std::string bytes = recorder->packed();
  const Environment stored = environment(Store::open(bytes));
  EXPECT_TRUE(is_stored(*compile("size(pools)", stored, problems)));
  EXPECT_FALSE(is_stored(*compile("size(pools) ", stored, problems)));
  Environment other = stored;
  other.variables.push_back({"more", Type::dyn()});
  EXPECT_FALSE(is_stored(*compile("size(pools)", other, problems)));
  EXPECT_EQ(compile("size(polls)", stored, problems), nullptr);
  EXPECT_FALSE(problems.empty());
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
  const std::string bytes = recorder->packed();
  numbers.store = Store::open(bytes);
  EXPECT_FALSE(is_stored(*compile("x + x", numbers, problems)));
}

}  // namespace
}  // namespace gpuctl::cel
