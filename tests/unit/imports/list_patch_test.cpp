#include "imports/list_patch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "imports/difference.hpp"
#include "support/knowledge.hpp"
#include "yaml/emit.hpp"
#include "yaml/merge_patch.hpp"

namespace gpuctl::imports {
namespace {

using ::testing::ElementsAre;

struct Parts {
  std::string operations;
  std::string merge;
};

Parts split(const std::string& wanted, const std::string& made) {
  testing::Lab lab;
  const yaml::Node before = lab.parse(made);
  const yaml::Node patch = patch_between(lab.parse(wanted), before, lab.library->arena());
  const SplitPatch out = split_lists(patch, before, lab.library->arena());
  return {yaml::emit_json(out.operations), yaml::emit_json(out.merge)};
}

TEST(ListPatch, ChangesTheItemThatDiffers) {
  const Parts parts = split("{a: 2, pools: [{name: x, size: 3, type: t}, {name: u, size: 1}]}",
                            "{a: 1, pools: [{name: x, size: 2, type: t}, {name: u, size: 1}]}");
  EXPECT_EQ(parts.operations, R"([{"op":"test","path":"/pools/0/name","value":"x"},)"
                              R"({"op":"replace","path":"/pools/0/size","value":3}])");
  EXPECT_EQ(parts.merge, R"({"a":2})");
}

TEST(ListPatch, RemovesFromTheEndAndAddsInPlace) {
  EXPECT_EQ(split("{l: [b, z, c, d]}", "{l: [a, b, c, d]}").operations,
            R"([{"op":"test","path":"/l/0","value":"a"},{"op":"remove","path":"/l/0"},)"
            R"({"op":"add","path":"/l/1","value":"z"}])");
  EXPECT_EQ(split("{l: [a, b, c]}", "{l: [a, b]}").operations,
            R"([{"op":"add","path":"/l/-","value":"c"}])");
}

TEST(ListPatch, ReplacesAListThatHasNothingInCommon) {
  const Parts parts = split("{l: [{name: x}]}", "{l: [{name: u}]}");
  EXPECT_EQ(parts.operations, "null");
  EXPECT_EQ(parts.merge, R"({"l":[{"name":"x"}]})");
}

TEST(ListPatch, MovesItemsThatLeaveTheOrderOfTheOthers) {
  EXPECT_EQ(split("{l: [b, a]}", "{l: [a, b]}").operations,
            R"([{"op":"test","path":"/l/0","value":"a"},{"op":"remove","path":"/l/0"},)"
            R"({"op":"add","path":"/l/-","value":"a"}])");
}

// What is taken away says nothing of what stays.
TEST(ListPatch, KeepsWhatStaysHoweverMuchGoes) {
  EXPECT_EQ(split("{l: [{size: 1}]}", "{l: [{size: 1, a: 1, b: 2, c: 3}]}").operations,
            R"([{"op":"remove","path":"/l/0/a"},{"op":"remove","path":"/l/0/b"},)"
            R"({"op":"remove","path":"/l/0/c"}])");
}

TEST(ListPatch, EscapesKeys) {
  EXPECT_EQ(
      split("{l: [{name: x, a/b~c: 2, d: 1}]}", "{l: [{name: x, a/b~c: 1, d: 1}]}").operations,
      R"([{"op":"test","path":"/l/0/name","value":"x"},)"
      R"({"op":"replace","path":"/l/0/a~1b~0c","value":2}])");
}

TEST(ListPatch, NamesWhatOperationsChange) {
  testing::Lab lab;
  EXPECT_THAT(
      changed_by(lab.parse("[{op: test, path: /l/0/name, value: x}, "
                           "{op: remove, path: /l/0/a~1b}, {op: add, path: /l/-, value: 1}]")),
      ElementsAre("l[0][\"a/b\"]", "l"));
}

// The operations, as RFC 6902 has them; a failed test or a missing place fails the test.
yaml::Node applied(const yaml::Node& target, std::string_view pointer, const yaml::Node& operation,
                   yaml::Arena& arena) {
  const std::string_view op = operation.get("op").as_string();
  if (pointer.empty()) {
    if (op != "test") return operation.get("value");
    EXPECT_TRUE(yaml::equal(target, operation.get("value")));
    return target;
  }
  const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
  const std::string token(pointer.substr(1, end - 1));
  const std::string_view rest = pointer.substr(end);
  if (target.is_list()) {
    std::vector<yaml::Node> items(target.items().begin(), target.items().end());
    const std::size_t at = token == "-" ? items.size() : std::stoul(token);
    const auto place = items.begin() + static_cast<std::ptrdiff_t>(at);
    if (rest.empty() && op == "add") {
      EXPECT_LE(at, items.size());
      items.insert(place, operation.get("value"));
    } else {
      EXPECT_LT(at, items.size());
      if (rest.empty() && op == "remove") {
        items.erase(place);
      } else {
        items[at] = applied(items[at], rest, operation, arena);
      }
    }
    return arena.list(items);
  }
  yaml::MapBuilder out(target);
  if (rest.empty() && op == "remove") {
    EXPECT_NE(target.find(token), nullptr);
    out.remove(token);
  } else {
    EXPECT_TRUE(op == "add" || !rest.empty() || target.find(token) != nullptr) << token;
    out.set(arena, token, applied(target.get(token), rest, operation, arena));
  }
  return out.build(arena);
}

// Lists of named maps, of scalars and of maps without names, two levels deep.
std::string random_list(std::mt19937& random, int depth) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const unsigned kind = below(3);
  std::string out = "[";
  for (unsigned i = 0, n = below(5); i < n; ++i) {
    if (i != 0) out += ", ";
    const std::string number = std::to_string(below(7));
    if (kind == 0) {
      out += number;
      continue;
    }
    out += kind == 1 ? "{name: n" + number + ", " : "{";
    out += "v: " + std::to_string(below(2));
    if (below(2) == 0) out += ", w: {x: " + std::to_string(below(2)) + "}";
    if (depth > 0) out += ", l: " + random_list(random, depth - 1);
    out += "}";
  }
  return out + "]";
}

TEST(ListPatch, MakesWhatIsWantedOfWhatIsMade) {
  std::mt19937 random(16);
  std::size_t split_ones = 0;
  for (int i = 0; i < 3000; ++i) {
    testing::Lab lab;
    const std::string made = "{m: {l: " + random_list(random, 2) + "}}";
    const std::string wanted = "{m: {l: " + random_list(random, 2) + "}}";
    const yaml::Node before = lab.parse(made);
    const yaml::Node after = lab.parse(wanted);
    const SplitPatch patch = split_lists(patch_between(after, before, lab.library->arena()), before,
                                         lab.library->arena());
    if (!patch.operations.is_null()) ++split_ones;
    yaml::Node out = before;
    for (const yaml::Node& operation : patch.operations.items()) {
      out = applied(out, operation.get("path").as_string(), operation, lab.library->arena());
    }
    if (patch.merge.is_map()) out = yaml::merge_patch(out, patch.merge, lab.library->arena());
    ASSERT_TRUE(yaml::equal(out, after)) << made << " -> " << wanted;
  }
  EXPECT_GT(split_ones, 300U);
}

}  // namespace
}  // namespace gpuctl::imports
