#include "yaml/packed.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "yaml/emit.hpp"

namespace gpuctl::yaml {
namespace {

// A table as the knowledge has them: rows with a list and a map each.
Node table(Arena& arena, int rows) {
  std::vector<Node> list;
  for (int i = 0; i < rows; ++i) {
    const auto origin = static_cast<Origin>(10 * i + 1);
    const Node sizes[] = {Node::integer(i, origin + 1), Node::integer(-i, origin + 2)};
    const Entry inner[] = {arena.entry("real", Node::real(i / 4.0, origin + 3)),
                           arena.entry("none", Node::null(origin + 4)),
                           arena.entry("yes", Node::boolean(i % 2 == 0, origin + 5))};
    const Entry row[] = {
        arena.entry("name", arena.string("row number " + std::to_string(i), origin), origin + 6),
        arena.entry("sizes", arena.list(sizes, origin + 7)),
        arena.entry("more", arena.map(inner, origin + 8)),
        arena.entry("empty", arena.map(std::span<const Entry>())),
        arena.entry("least", Node::integer(std::numeric_limits<std::int64_t>::min()))};
    list.push_back(arena.map(row, origin + 9));
  }
  const Entry root[] = {arena.entry("kind", arena.string("Table")),
                        arena.entry("rows", arena.list(list, 7), 8)};
  return arena.map(root, 9);
}

// As JSON, and all origins in the order of a walk.
std::string described(const Node& node) {
  std::string out = std::to_string(node.origin()) + " ";
  for (const Node& item : node.items()) out += described(item);
  for (const Entry& entry : node.entries()) out += described(entry.key) + described(entry.value);
  return out;
}

TEST(Packed, TreesComeBackAsTheyWere) {
  Arena arena;
  const Node tree = table(arena, 40);
  std::string bytes;
  pack(bytes, tree);
  Arena other;
  Unpacker unpacker(bytes);
  const Node again = unpacker.tree(other);
  EXPECT_TRUE(unpacker.at_end());
  EXPECT_EQ(emit_json(again), emit_json(tree));
  EXPECT_EQ(described(again), described(tree));
}

TEST(Packed, LazyTreesAreTheSameWhereverOneLooksFirst) {
  Arena arena;
  const Node tree = table(arena, 40);
  std::string bytes;
  pack(bytes, tree);
  SharedArena home;
  const Node lazy = Unpacker(bytes).lazy_tree(home);
  EXPECT_EQ(lazy.size(), 2);
  EXPECT_EQ(lazy.origin(), 9);
  const Node rows = lazy.get("rows");
  EXPECT_TRUE(rows.is_list());
  EXPECT_EQ(rows.size(), 40);
  EXPECT_EQ(rows.origin(), 7);
  EXPECT_EQ(rows.items()[17].get({"more", "real"}).as_real(), 17 / 4.0);
  EXPECT_EQ(rows.items()[17].find("name"), lazy.get("rows").items()[17].find("name"));
  EXPECT_EQ(lazy.with_origin(3).get("rows").items()[3].get("name").as_string(), "row number 3");
  EXPECT_TRUE(equal(lazy, tree));
  EXPECT_TRUE(equal(tree, lazy));
  EXPECT_EQ(described(lazy), described(tree));
  Arena other;
  EXPECT_EQ(emit_json(other.clone(lazy)), emit_json(tree));
}

TEST(Packed, TheFirstScalarOfAMapIsThereBeforeTheRest) {
  Arena arena;
  const Node tree = table(arena, 40);
  std::string bytes;
  pack(bytes, tree);
  SharedArena home;
  const Node row = Unpacker(bytes).lazy_tree(home).get("rows").items()[17];
  const Node name = Unpacker::first_scalar(row, "name");
  EXPECT_EQ(name.as_string(), "row number 17");
  EXPECT_EQ(name.origin(), tree.get("rows").items()[17].get("name").origin());
  EXPECT_TRUE(Unpacker::first_scalar(row, "sizes").is_null());
  EXPECT_TRUE(Unpacker::first_scalar(tree.get("rows").items()[17], "name").is_null());
  EXPECT_TRUE(Unpacker::first_scalar(Node(), "name").is_null());
}

TEST(Packed, SeveralThreadsMayLookIntoOneLazyTree) {
  Arena arena;
  const Node tree = table(arena, 300);
  std::string bytes;
  pack(bytes, tree);
  for (int round = 0; round < 20; ++round) {
    SharedArena home;
    const Node lazy = Unpacker(bytes).lazy_tree(home);
    std::vector<std::string> found(4);
    {
      std::vector<std::jthread> threads;
      for (std::string& one : found) {
        threads.emplace_back([&one, lazy] { one = described(lazy); });
      }
    }
    for (const std::string& one : found) EXPECT_EQ(one, described(tree));
  }
}

TEST(Packed, NumbersOfAnySizeComeBack) {
  std::string bytes;
  const std::vector<std::uint64_t> numbers = {
      0, 1, 127, 128, 16383, 16384, 1ULL << 40U, std::numeric_limits<std::uint64_t>::max()};
  for (const std::uint64_t number : numbers) pack_number(bytes, number);
  pack_text(bytes, "text");
  Unpacker unpacker(bytes);
  for (const std::uint64_t number : numbers) EXPECT_EQ(unpacker.number(), number);
  EXPECT_EQ(unpacker.text(), "text");
  EXPECT_TRUE(unpacker.at_end());
}

TEST(PackContent, TellsTreesApartButNotTheirPlaces) {
  Arena arena;
  const auto packed = [](const Node& node) {
    std::string out;
    pack_content(out, node);
    return out;
  };
  const auto map = [&](const char* first, const char* second, Origin origin) {
    const Entry entries[] = {arena.entry(first, Node::integer(1, origin), origin),
                             arena.entry(second, Node::integer(2), origin)};
    return arena.map(entries, origin);
  };
  EXPECT_EQ(packed(map("a", "b", 3)), packed(map("a", "b", 9)));
  EXPECT_NE(packed(map("a", "b", 3)), packed(map("b", "a", 3)));
  const Node one[] = {Node::integer(1)};
  const Node inner[] = {arena.list(one), arena.list({})};
  const Node outer[] = {arena.list(inner), arena.list({})};
  const std::vector<Node> different = {Node(),
                                       Node::boolean(true),
                                       Node::boolean(false),
                                       Node::integer(1),
                                       Node::integer(-1),
                                       Node::real(1),
                                       arena.string("1"),
                                       arena.string(""),
                                       arena.list({}),
                                       arena.map(std::span<const Entry>()),
                                       arena.list(one),
                                       arena.list(inner),
                                       arena.list(outer)};
  for (std::size_t i = 0; i < different.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(packed(different[i]), packed(different[j]));
  }
}

}  // namespace
}  // namespace gpuctl::yaml
