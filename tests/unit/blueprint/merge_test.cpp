#include "blueprint/merge.hpp"

#include <gtest/gtest.h>

#include <random>

#include "blueprint/extends.hpp"
#include "support/knowledge.hpp"
#include "yaml/merge_patch.hpp"

namespace gpuctl::blueprint {
namespace {

using testing::Lab;
using yaml::Node;

constexpr std::string_view kSchema = R"(
type: object
properties:
  size: {type: integer}
  text: {type: string}
  zones: {type: array, items: {type: string}}
  patch: {type: object, x-kubernetes-preserve-unknown-fields: true}
  labels: {type: object, additionalProperties: {type: string}}
  tags:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [owner, key]
    items: {type: object, properties: {owner: {type: string}, key: {type: string}, value: {type: string}}}
  pools:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items:
      type: object
      properties:
        name: {type: string}
        size: {type: integer}
        zones: {type: array, items: {type: string}}
        labels: {type: object, additionalProperties: {type: string}}
)";

class Merging {
 public:
  Merging() : definition_(lab_.parse(std::string(kSchema))) {}

  Node parse(const std::string& text) { return lab_.parse(text); }
  Node of(const std::vector<Node>& documents) {
    return merge(definition_, documents, lab_.context());
  }
  std::string json(const std::vector<std::string>& texts) {
    std::vector<Node> documents;
    for (const std::string& text : texts) documents.push_back(parse(text));
    return yaml::emit_json(of(documents));
  }
  std::string codes() const { return lab_.codes(); }
  std::string report() const { return lab_.report(); }
  yaml::Arena& arena() { return lab_.library->arena(); }

 private:
  Lab lab_;
  Node definition_;
};

TEST(Merge, GoesIntoMaps) {
  EXPECT_EQ(Merging().json({"{size: 1, labels: {a: x, b: v}}", "{labels: {b: z, c: w}, text: t}"}),
            R"({"size":1,"labels":{"a":"x","b":"z","c":"w"},"text":"t"})");
}

TEST(Merge, TakesAwayWhatIsNull) {
  Merging merging;
  EXPECT_EQ(merging.json({"{size: 1, labels: {a: x, b: v}}", "{size: null, labels: {b: null}}"}),
            R"({"labels":{"a":"x"}})");
  EXPECT_EQ(merging.json({"{size: null}"}), "{}");
  EXPECT_EQ(merging.json({"{pools: [{name: a}]}", "{pools: null}"}), "{}");
  EXPECT_EQ(merging.codes(), "");
}

TEST(Merge, MergesNamedThingsByTheirKeys) {
  Merging merging;
  EXPECT_EQ(merging.json({"pools: [{name: a, size: 1, zones: [x, u]}, {name: b}]",
                          "pools: [{name: c}, {name: a, zones: [z]}]"}),
            R"({"pools":[{"name":"a","size":1,"zones":["z"]},{"name":"b"},{"name":"c"}]})");
  EXPECT_EQ(
      merging.json({"tags: [{owner: o, key: k, value: a}, {owner: o, key: l, value: b}]",
                    "tags: [{owner: o, key: l, value: c}]"}),
      R"({"tags":[{"owner":"o","key":"k","value":"a"},{"owner":"o","key":"l","value":"c"}]})");
  EXPECT_EQ(merging.codes(), "");
}

TEST(Merge, LeavesDoublesToTheSchema) {
  EXPECT_EQ(Merging().json({"pools: [{name: a, size: 1}]",
                            "pools: [{name: a, size: 2}, {name: a, size: 3}, {size: 4}, 5]"}),
            R"({"pools":[{"name":"a","size":2},{"name":"a","size":3},{"size":4},5]})");
}

TEST(Merge, RemovesItems) {
  Merging merging;
  EXPECT_EQ(merging.json({"pools: [{name: a}, {name: b}]", "pools: [{name: a, remove: true}]"}),
            R"({"pools":[{"name":"b"}]})");
  EXPECT_EQ(merging.codes(), "");
  merging.json({"pools: [{name: a}]", "pools: [{name: x, remove: true}]"});
  EXPECT_EQ(merging.codes(), "GPU0806");
  Merging faulty;
  EXPECT_EQ(faulty.json({"pools: [{name: a}]", "pools: [{name: a, size: 1, remove: true}]"}),
            R"({"pools":[{"name":"a"}]})");
  EXPECT_EQ(faulty.codes(), "GPU0805");
}

TEST(Merge, SaysThatAnEmptyListRemovesNothing) {
  Merging merging;
  EXPECT_EQ(merging.json({"pools: [{name: a}]", "pools: []"}), R"({"pools":[{"name":"a"}]})");
  EXPECT_EQ(merging.codes(), "GPU0806");
}

TEST(Merge, RefusesOtherKinds) {
  Merging merging;
  EXPECT_EQ(merging.json({"{labels: {a: x}, size: 1}", "{labels: [a], size: [1]}"}),
            R"({"labels":{"a":"x"},"size":1})");
  EXPECT_EQ(merging.codes(), "GPU0804 GPU0804");
}

TEST(Merge, ComposesPatches) {
  Merging merging;
  EXPECT_EQ(merging.json({"patch: {a: {b: 1, c: 2}, d: 1}", "patch: {a: {b: null}, d: {e: null}}"}),
            R"({"patch":{"a":{"b":null,"c":2},"d":{"e":null}}})");
  EXPECT_EQ(merging.json({"patch: {a: null}", "patch: null"}), "{}");
  EXPECT_EQ(merging.codes(), "");
}

TEST(Merge, KeepsOrigins) {
  Merging merging;
  const Node first = merging.parse("{size: 1, labels: {a: x}}");
  const Node second = merging.parse("{labels: {b: v}}");
  const Node merged = merging.of({first, second});
  EXPECT_EQ(merged.get("size").origin(), first.get("size").origin());
  EXPECT_EQ(merged.get({"labels", "a"}).origin(), first.get({"labels", "a"}).origin());
  EXPECT_EQ(merged.get("labels").origin(), second.get("labels").origin());
}

// Random documents of the schema above.
class Random {
 public:
  Random(unsigned seed, yaml::Arena& arena, bool with_nulls)
      : numbers_(seed), arena_(arena), with_nulls_(with_nulls) {}

  Node document() {
    yaml::MapBuilder out;
    if (one_of(2)) out.set(arena_, "size", maybe(Node::integer(draw(3))));
    if (one_of(2)) out.set(arena_, "zones", maybe(list()));
    if (one_of(2)) out.set(arena_, "labels", maybe(labels()));
    if (one_of(2)) out.set(arena_, "pools", maybe(pools()));
    return out.build(arena_);
  }
  /// Without lists of named things, which RFC 7386 does not know.
  Node plain() {
    yaml::MapBuilder out(document());
    out.remove("pools");
    return out.build(arena_);
  }

 private:
  std::int64_t draw(std::int64_t below) {
    return std::uniform_int_distribution<std::int64_t>(0, below - 1)(numbers_);
  }
  bool one_of(std::int64_t many) { return draw(many) == 0; }
  Node maybe(const Node& value) { return with_nulls_ && one_of(4) ? Node() : value; }
  Node text() { return arena_.string(std::string(1, static_cast<char>('a' + draw(4)))); }
  Node list() {
    std::vector<Node> items;
    for (std::int64_t i = draw(3); i > 0; --i) items.push_back(text());
    return arena_.list(items);
  }
  Node labels() {
    yaml::MapBuilder out;
    for (const char* name : {"a", "b", "c"}) {
      if (one_of(2)) out.set(arena_, name, maybe(text()));
    }
    return out.build(arena_);
  }
  Node pools() {
    std::vector<Node> items;
    for (const char* name : {"a", "b", "c"}) {
      if (one_of(2)) continue;
      yaml::MapBuilder pool;
      pool.set(arena_, "name", arena_.string(name));
      if (one_of(2)) pool.set(arena_, "size", maybe(Node::integer(draw(3))));
      if (one_of(2)) pool.set(arena_, "labels", maybe(labels()));
      items.push_back(pool.build(arena_));
    }
    return arena_.list(items);
  }

  std::mt19937 numbers_;
  yaml::Arena& arena_;
  bool with_nulls_;
};

constexpr unsigned kRounds = 2000;

TEST(Merge, IsAssociativeAndKnowsNothingAsItsIdentity) {
  Merging merging;
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed, merging.arena(), false);
    const Node a = random.document();
    const Node b = random.document();
    const Node c = random.document();
    const Node all = merging.of({a, b, c});
    ASSERT_TRUE(yaml::equal(all, merging.of({merging.of({a, b}), c}))) << seed;
    ASSERT_TRUE(yaml::equal(all, merging.of({a, merging.of({b, c})}))) << seed;
    const Node nothing = merging.arena().map({});
    ASSERT_EQ(yaml::emit_json(merging.of({a, nothing})), yaml::emit_json(a)) << seed;
    ASSERT_EQ(yaml::emit_json(merging.of({nothing, a})), yaml::emit_json(a)) << seed;
  }
}

TEST(Merge, IsIdempotent) {
  Merging merging;
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed, merging.arena(), true);
    const Node a = random.document();
    const Node b = random.document();
    const Node once = merging.of({a, b});
    ASSERT_EQ(yaml::emit_json(merging.of({a, b, b})), yaml::emit_json(once)) << seed;
    ASSERT_EQ(yaml::emit_json(merging.of({once})), yaml::emit_json(once)) << seed;
  }
}

TEST(Merge, IsMergePatchWhereNothingHasAName) {
  Merging merging;
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed, merging.arena(), true);
    const Node a = random.plain();
    const Node b = random.plain();
    const Node base = yaml::merge_patch(merging.arena().map({}), a, merging.arena());
    ASSERT_TRUE(yaml::equal(merging.of({a, b}), yaml::merge_patch(base, b, merging.arena())))
        << seed;
  }
}

// A blueprint in `a.yaml` and files beside it, by name.
std::string layers_of(const std::map<std::string, std::string>& files, Lab& lab) {
  const auto read = [&](const std::string& name, const Node& path) -> std::optional<diag::FileId> {
    const auto found = files.find(name);
    if (found != files.end()) return lab.library->sources().add_file(name, found->second);
    lab.sink.error("GPU0000", path.origin(), "no file `" + name + "`");
    return std::nullopt;
  };
  const diag::FileId file = lab.library->sources().add_file("in/a.yaml", files.at("in/a.yaml"));
  const auto layers = read_layers(file, read, lab.context());
  if (!layers) return lab.codes();
  std::string out;
  for (const Node& layer : *layers) {
    out += (out.empty() ? "" : " ") + yaml::emit_json(layer.get("spec"));
    EXPECT_EQ(layer.find("extends"), nullptr);
  }
  return out;
}

std::string document(const std::string& spec, const std::string& extends = "") {
  return "apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\n" +
         (extends.empty() ? "" : "extends: " + extends + "\n") + "spec: " + spec + "\n";
}

TEST(Extends, ReadsBasesBeforeWhatExtendsThem) {
  Lab lab;
  EXPECT_EQ(layers_of({{"in/a.yaml", document("1", "[../b.yaml, deep/c.yaml]")},
                       {"b.yaml", document("2", "d.yaml")},
                       {"in/deep/c.yaml", document("3", "./../../d.yaml")},
                       {"d.yaml", document("4")}},
                      lab),
            "4 2 3 1");
}

TEST(Extends, RefusesWhatCannotBeRead) {
  const auto codes = [](const std::string& extends, const std::string& base = "kind: Pod") {
    Lab lab;
    return layers_of({{"in/a.yaml", document("1", extends)}, {"in/b.yaml", base}}, lab);
  };
  EXPECT_EQ(codes("/b.yaml"), "GPU0800");
  EXPECT_EQ(codes("https://example.com/b.yaml"), "GPU0800");
  EXPECT_EQ(codes("~/b.yaml"), "GPU0800");
  EXPECT_EQ(codes(".."), "GPU0800");
  EXPECT_EQ(codes("''"), "GPU0800");
  EXPECT_EQ(codes("[b.yaml, 3]", document("2")), "GPU0800");
  EXPECT_EQ(codes("{b.yaml: 1}"), "GPU0800");
  EXPECT_EQ(codes("x//y.yaml"), "GPU0800");
  EXPECT_EQ(codes("b.yaml"), "GPU0801");
  EXPECT_EQ(codes("b.yaml", "[]"), "GPU0801");
  EXPECT_EQ(codes("b.yaml", document("2", "a.yaml")), "GPU0802");
  EXPECT_EQ(codes("../in/a.yaml"), "GPU0802");
  EXPECT_EQ(codes("[]"), "1");
}

TEST(Extends, EndsSomewhere) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 20; ++i) {
    files["in/" + std::to_string(i) + ".yaml"] = document("1", std::to_string(i + 1) + ".yaml");
  }
  files["in/a.yaml"] = document("1", "0.yaml");
  Lab deep;
  EXPECT_EQ(layers_of(files, deep), "GPU0803");
  std::string many;
  for (int i = 0; i < 70; ++i) {
    files["in/" + std::to_string(i) + ".yaml"] = document("1");
    many += (many.empty() ? "[" : ", ") + std::to_string(i) + ".yaml";
  }
  files["in/a.yaml"] = document("1", many + "]");
  Lab wide;
  EXPECT_EQ(layers_of(files, wide), "GPU0803");
}

TEST(Extends, MovesRelativePaths) {
  Lab lab;
  const Node definition = lab.parse(
      "properties: {a: {x-gpuctl-relative: true}, b: {},\n"
      "  list: {items: {properties: {file: {x-gpuctl-relative: true}}}}}\n");
  const auto moved = [&](const std::string& file, const std::string& directory) {
    const diag::FileId id = lab.library->sources().add_file(
        file, "{a: x/secret, b: other, list: [{file: /etc/one}, {file: two}]}");
    const auto read = yaml::read(id, lab.library->sources(), lab.library->arena(), lab.sink);
    return yaml::emit_json(with_paths_from(definition, *read, directory, lab.context()));
  };
  EXPECT_EQ(moved("in/b.yaml", "in/"),
            R"({"a":"x/secret","b":"other","list":[{"file":"/etc/one"},{"file":"two"}]})");
  EXPECT_EQ(moved("b.yaml", "in/"),
            R"({"a":"../x/secret","b":"other","list":[{"file":"/etc/one"},{"file":"../two"}]})");
  EXPECT_EQ(moved("../b.yaml", ""),
            R"({"a":"../x/secret","b":"other","list":[{"file":"/etc/one"},{"file":"../two"}]})");
  EXPECT_EQ(
      moved("/p/q/b.yaml", "/p/in/"),
      R"({"a":"../q/x/secret","b":"other","list":[{"file":"/etc/one"},{"file":"../q/two"}]})");
}

}  // namespace
}  // namespace gpuctl::blueprint
