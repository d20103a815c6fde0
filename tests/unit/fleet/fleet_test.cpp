#include "fleet/fleet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "cli/command.hpp"
#include "diag/print.hpp"
#include "fleet/items.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::fleet {
namespace {

pipeline::Knowledge& knowledge() {
  static diag::Sink sink;
  static pipeline::Knowledge made(cli::built_in_image(), "", "", sink);
  return made;
}

constexpr std::string_view kHead =
    "apiVersion: gpuctl.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec:\n";

// A fleet in a directory of its own, with files beside it.
class Scene {
 public:
  explicit Scene(const std::string& spec, const std::map<std::string, std::string>& files = {}) {
    std::string pattern = (std::filesystem::temp_directory_path() / "fleet.XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    for (const auto& [name, text] : files) {
      std::filesystem::create_directories((folder_ / name).parent_path());
      std::ofstream(folder_ / name) << text;
    }
    fleet = std::make_unique<Fleet>((folder_ / "fleet.yaml").string(), std::string(kHead) + spec,
                                    knowledge());
  }
  ~Scene() { std::filesystem::remove_all(folder_); }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  std::string ids() const {
    std::string out;
    for (const Cluster& cluster : fleet->clusters()) {
      out += (out.empty() ? "" : " ") + cluster.id();
    }
    return out;
  }
  std::string codes() const {
    std::string out;
    for (const diag::Diagnostic& one : fleet->sink().all()) {
      out += (out.empty() ? "" : " ") + one.code;
    }
    return out;
  }
  std::string report() const {
    std::string out;
    for (const diag::Diagnostic& one : fleet->sink().all()) {
      diag::print_text(one, fleet->sources(), false, out);
    }
    return out;
  }
  /// `spec` of the documents of a cluster, or what is wrong.
  std::string specs(std::size_t index) const {
    const pipeline::Member member = fleet->member(fleet->clusters().at(index));
    diag::Sources sources(*member.sources, member.files);
    yaml::Arena arena;
    diag::Sink sink;
    const auto layers = member.layers({sources, arena, sink});
    std::string out;
    if (!layers) {
      for (const diag::Diagnostic& one : sink.all()) out += one.code + " " + one.message;
      return out;
    }
    for (const yaml::Node& layer : *layers) {
      out += (out.empty() ? "" : " ") + yaml::emit_json(layer.get("spec"));
    }
    return out;
  }

  std::unique_ptr<Fleet> fleet;

 private:
  std::filesystem::path folder_;
};

std::string base(const std::string& spec, const std::string& extends = "") {
  return "apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\n" +
         (extends.empty() ? "" : "extends: " + extends + "\n") + "spec: " + spec + "\n";
}

TEST(Fleet, NamesClusters) {
  const Scene scene(
      "  stages: [{name: dev}, {name: prod}]\n"
      "  clusters:\n"
      "    - {name: a, stage: dev}\n"
      "    - name: b-${item.x}-${string(item.n)}\n"
      "      stage: prod\n"
      "      matrix: {x: [p, q], n: [1, 2]}\n"
      "      when: item.x == 'p' || item.n > 1\n"
      "    - {name: '${item.name}', stage: '${item.stage}', table: t.csv}\n",
      {{"t.csv", "name,stage\nc,dev\nd,prod\n"}});
  EXPECT_EQ(scene.codes(), "") << scene.report();
  EXPECT_EQ(scene.ids(), "dev/a prod/b-p-1 prod/b-p-2 prod/b-q-2 dev/c prod/d");
  EXPECT_EQ(scene.fleet->stages().size(), 2U);
}

TEST(Fleet, PutsDocumentsInOrder) {
  const Scene scene(
      "  extends: [one.yaml]\n"
      "  stages:\n"
      "    - {name: dev, extends: two.yaml, spec: {n: '${cluster.labels.l}', list: [1]}}\n"
      "  clusters:\n"
      "    - {name: a, extends: sub/three.yaml, labels: {l: x}, spec: {c: '${cluster.name}'}}\n"
      "    - {name: b, labels: {l: w}}\n",
      {{"one.yaml", base("{b: 1}")},
       {"two.yaml", base("{b: 2}", "one.yaml")},
       {"sub/three.yaml", base("{b: 3}")}});
  EXPECT_EQ(scene.codes(), "") << scene.report();
  EXPECT_EQ(scene.specs(0), R"({"b":1} {"b":1} {"b":2} {"n":"x","list":[1]} {"b":3} )"
                            R"({"c":"a","stage":"dev"})");
  EXPECT_EQ(scene.specs(1), R"({"b":1} {"b":1} {"b":2} {"n":"w","list":[1]} {"stage":"dev"})");
}

TEST(Fleet, KnowsDefaultStages) {
  EXPECT_EQ(Scene("  clusters: [{name: a}, {name: b, stage: blue}]\n").ids(), "prod/a blue/b");
  EXPECT_EQ(Scene("  stages: [{name: only}]\n  clusters: [{name: a}]\n").ids(), "only/a");
  EXPECT_EQ(Scene("  stages: [{name: x}, {name: w}]\n  clusters: [{name: a}]\n").codes(),
            "GPU0811");
  EXPECT_EQ(Scene("  stages: [{name: dev}]\n  clusters: [{name: a, stage: dve}]\n").codes(),
            "GPU0811");
}

TEST(Fleet, RefusesDoubles) {
  EXPECT_EQ(Scene("  clusters: [{name: a}, {name: b}, {name: a}]\n").codes(), "GPU0812");
  EXPECT_EQ(Scene("  clusters: [{name: 'a-${item.x}', matrix: {x: [p, q], z: [1, 2]}}]\n").codes(),
            "GPU0812 GPU0812");
  const Scene other(
      "  stages: [{name: x}, {name: w}]\n"
      "  clusters: [{name: a, stage: '${item.s}', matrix: {s: [x, w]}}]\n");
  EXPECT_EQ(other.ids(), "x/a w/a");
}

TEST(Fleet, ChecksItsFormat) {
  EXPECT_EQ(Scene("  cluster: []\n").codes(), "GPU0810 GPU0810");
  EXPECT_EQ(Scene("  clusters: [{name: a, matrix: {x: [1]}, table: t.csv}]\n").codes(), "GPU0810");
  EXPECT_EQ(Scene("  clusters: [{name: a, when: 'true'}]\n").codes(), "GPU0810");
  EXPECT_EQ(Scene("  clusters: [{name: a, matrix: {x: [1]}, when: '1'}]\n").codes(), "GPU0810");
  EXPECT_EQ(Scene("  clusters: [{name: a, spec: {x: {$secret: '${cluster.name}'}}}]\n").codes(),
            "GPU0810");
  EXPECT_EQ(Scene("  clusters: [{name: A_b}]\n").codes(), "GPU0815");
  EXPECT_EQ(Scene("  clusters: [{name: '${item.x}', matrix: {x: [{a: 1}]}}]\n").codes(), "GPU0815");
}

TEST(Fleet, ChecksExpressionsAtOnce) {
  EXPECT_EQ(Scene("  clusters: [{name: 'a-${item.x}'}]\n").codes(), "GPU0302");
  EXPECT_EQ(Scene("  clusters: [{name: 'a-${item.z}', matrix: {x: [p]}}]\n").codes(), "GPU0302");
  EXPECT_EQ(Scene("  clusters: [{name: 'a-${item.x}', matrix: {x: [1]}}]\n").codes(), "GPU0302");
  EXPECT_EQ(Scene("  clusters: [{name: a, spec: {x: '${item.x}'}}]\n").codes(), "GPU0302");
  EXPECT_EQ(Scene("  stages: [{name: s, spec: {x: '${item.x}'}}]\n"
                  "  clusters: [{name: a}]\n")
                .codes(),
            "GPU0302");
}

TEST(Fleet, ReportsFaultsOfAnItem) {
  const Scene scene(
      "  clusters: [{name: 'a-${item.x}', matrix: {x: ['1', b]}, "
      "spec: {n: '${int(item.x)}'}}]\n");
  EXPECT_EQ(scene.codes(), "") << scene.report();
  EXPECT_EQ(scene.specs(0), R"({"n":1,"stage":"prod"})");
  EXPECT_EQ(scene.specs(1).substr(0, 7), "GPU0303") << scene.specs(1);
}

TEST(Fleet, ReadsTables) {
  const auto codes = [](const std::string& table, const std::map<std::string, std::string>& files) {
    return Scene("  clusters: [{name: '${item.name}', table: " + table + "}]\n", files).codes();
  };
  EXPECT_EQ(codes("t.csv", {}), "GPU0814");
  EXPECT_EQ(codes("../t.csv", {}), "GPU0814");
  EXPECT_EQ(codes("t.csv", {{"t.csv", "name\n\"a"}}), "GPU0813");
  EXPECT_EQ(codes("t.yaml", {{"t.yaml", "name: a"}}), "GPU0813");
  EXPECT_EQ(codes("t.yaml", {{"t.yaml", "[{name: a}, {name: b, more: 1}]"}}), "");
  EXPECT_EQ(Scene("  extends: no.yaml\n  clusters: [{name: a}]\n").codes(), "GPU0800");
}

TEST(Fleet, DigestsContentApartFromPlaces) {
  const std::map<std::string, std::string> files = {{"one.yaml", base("{b: 1}")}};
  const auto member_of = [&](const Scene& scene) {
    const pipeline::Member member = scene.fleet->member(scene.fleet->clusters().front());
    diag::Sources sources(*member.sources, member.files);
    yaml::Arena arena;
    diag::Sink sink;
    return std::pair(pipeline::digest_of(*member.layers({sources, arena, sink})), member.places);
  };
  const Scene plain("  extends: one.yaml\n  clusters: [{name: a, spec: {x: 1}}]\n", files);
  const Scene moved("  extends: one.yaml\n\n  clusters: [{name: a, spec: {x: 1}}, {name: b}]\n",
                    files);
  const Scene other("  extends: one.yaml\n  clusters: [{name: a, spec: {x: 2}}]\n", files);
  EXPECT_EQ(member_of(plain).first, member_of(moved).first);
  EXPECT_NE(member_of(plain).second, member_of(moved).second);
  EXPECT_NE(member_of(plain).first, member_of(other).first);
}

TEST(Items, CombineInOrder) {
  yaml::Arena arena;
  diag::Sources sources;
  diag::Sink sink;
  const auto matrix =
      yaml::read(sources.add_file("m", "{a: [1, 2], b: [x, w]}"), sources, arena, sink);
  EXPECT_EQ(yaml::emit_json(*combinations(*matrix, 4, arena)),
            R"([{"a":1,"b":"x"},{"a":1,"b":"w"},{"a":2,"b":"x"},{"a":2,"b":"w"}])");
  EXPECT_FALSE(combinations(*matrix, 3, arena).has_value());
}

// Calls `visit` with each list of maps in a schema, its path and the schema of its items.
void for_each_list(const yaml::Node& schema, const std::string& path,
                   const std::function<void(const std::string&, const yaml::Node&)>& visit) {
  if (schema.get("items").get("properties").is_map()) visit(path, schema);
  for (const yaml::Entry& field : schema.get("properties").entries()) {
    for_each_list(field.value, path + "." + std::string(field.key.as_string()), visit);
  }
  if (schema.get("items").is_map()) for_each_list(schema.get("items"), path + "[]", visit);
  if (schema.get("additionalProperties").is_map()) {
    for_each_list(schema.get("additionalProperties"), path + ".*", visit);
  }
}

// Items that are removed have no field of that name; what is known by its name has a key.
TEST(Schemas, SayWhichListsAreOfNamedThings) {
  std::size_t named = 0;
  for (const std::string& name : knowledge().names()) {
    diag::Sink sink;
    const pipeline::Compiled* compiled = knowledge().platform(name, diag::kNoOrigin, sink);
    ASSERT_NE(compiled, nullptr);
    for_each_list(schema::definition(*compiled->platform->blueprint), name,
                  [&](const std::string& path, const yaml::Node& list) {
                    const yaml::Node item = list.get("items");
                    const bool keyed = list.get("x-kubernetes-list-type").as_string() == "map";
                    named += keyed ? 1 : 0;
                    EXPECT_TRUE(!keyed || item.get({"properties", "remove"}).is_null()) << path;
                    const auto required = item.get("required").items();
                    const bool has_name = std::any_of(
                        required.begin(), required.end(),
                        [](const yaml::Node& field) { return field.as_string() == "name"; });
                    EXPECT_TRUE(keyed || !has_name || path.ends_with("addressesFromPools")) << path;
                  });
  }
  EXPECT_GT(named, 10U);
}

}  // namespace
}  // namespace gpuctl::fleet
