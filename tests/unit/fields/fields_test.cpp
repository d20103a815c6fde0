// Fields as a reference describes them, and as JSON Schema has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fields/field.hpp"
#include "fields/json_schema.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::fields {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kDefinition = R"(
type: object
required: [kind, spec]
properties:
  kind: {type: string, enum: [Lab]}
  spec:
    type: object
    required: [site, size]
    properties:
      site: {type: string, pattern: '(?i)^north', description: "Where it is, e.g. north. Never moves."}
      size: {type: integer, default: 3, minimum: 0, exclusiveMinimum: true}
      old: {type: string, x-gpuctl-refused: nobody has it}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true}
      labels: {type: object, maxProperties: 1, additionalProperties: {type: string, maxLength: 1}}
      pools:
        type: array
        minItems: 1
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [name]
          properties:
            name: {type: string, pattern: ^p}
            share: {x-kubernetes-int-or-string: true}
            profiles:
              type: object
              additionalProperties: {type: object, properties: {count: {type: integer}}}
)";

class Fields : public testing::Test {
 protected:
  yaml::Node read(std::string_view text) {
    diag::Sink sink;
    const auto node =
        yaml::read(sources_.add_file("x.yaml", std::string(text)), sources_, arena_, sink);
    EXPECT_FALSE(sink.has_errors());
    return node.value_or(yaml::Node());
  }
  std::string path_of(std::string_view path) {
    const Lookup found = find_field(definition_, path);
    return found.field ? found.field->path : "none, " + found.reached + " has no " + found.unknown;
  }

  diag::Sources sources_;
  yaml::Arena arena_;
  yaml::Node definition_ = read(kDefinition);
};

TEST_F(Fields, AreFoundAsPeopleWriteThem) {
  EXPECT_EQ(path_of("spec.pools[].name"), "spec.pools[].name");
  EXPECT_EQ(path_of("spec.pools[3].name"), "spec.pools[].name");
  EXPECT_EQ(path_of("pools.name"), "spec.pools[].name");
  EXPECT_EQ(path_of("pools"), "spec.pools");
  EXPECT_EQ(path_of("kind"), "kind");
  EXPECT_EQ(path_of("labels.team"), "spec.labels.*");
  EXPECT_EQ(path_of("pools.profiles.half.count"), "spec.pools[].profiles.*.count");
  EXPECT_EQ(path_of("pools.profiles.count"), "spec.pools[].profiles.*.count");
  EXPECT_EQ(path_of("pools.nam"), "none, spec.pools has no nam");
  EXPECT_EQ(path_of("site.north"), "none, spec.site has no north");
}

TEST_F(Fields, SayWhatTheyAre) {
  const Field spec = *find_field(definition_, "spec").field;
  std::vector<std::string> paths;
  for (const Field& field : fields_of(spec)) paths.push_back(field.path);
  EXPECT_THAT(paths,
              ElementsAre("spec.site", "spec.size", "spec.free", "spec.labels", "spec.pools"));
  EXPECT_EQ(find_field(definition_, "old").field->refused, "nobody has it");
  const auto definition = [&](std::string_view path) {
    return find_field(definition_, path).field->definition;
  };
  EXPECT_EQ(type_of(definition("pools")), "list of map");
  EXPECT_EQ(type_of(definition("labels")), "map of text");
  EXPECT_EQ(type_of(definition("pools.share")), "integer or text");
  EXPECT_EQ(first_sentence(definition("site")), "Where it is, e.g. north");
  EXPECT_THAT(constraints_of(definition("kind")), ElementsAre("only `Lab`"));
  EXPECT_THAT(constraints_of(definition("size")), ElementsAre("more than 0"));
  EXPECT_THAT(constraints_of(definition("labels")), ElementsAre("at most 1 field"));
  EXPECT_THAT(constraints_of(definition("labels.team")), ElementsAre("at most 1 character"));
  EXPECT_THAT(constraints_of(definition("pools")),
              ElementsAre("at least 1 item", "no two items with the same `name`"));
  EXPECT_THAT(constraints_of(definition("free")), IsEmpty());
}

TEST_F(Fields, AreCutOutOfADocument) {
  const yaml::Node document = read(
      "spec: {site: north, pools: [{name: pa}, {name: pb, profiles: {half: {count: 2}}, share: "
      "1}]}");
  const auto cut = [&](std::string_view path) {
    return yaml::emit_json(excerpt(document, path, arena_));
  };
  EXPECT_EQ(cut("spec.site"), R"({"spec":{"site":"north"}})");
  EXPECT_EQ(cut("spec.pools[].name"), R"({"spec":{"pools":[{"name":"pa"}]}})");
  EXPECT_EQ(cut("spec.pools[].profiles.*"),
            R"({"spec":{"pools":[{"name":"pb","profiles":{"half":{"count":2}}}]}})");
  EXPECT_EQ(cut("spec.labels"), "null");
}

TEST_F(Fields, BecomeJsonSchema) {
  const yaml::Node whole = json_schema(definition_, Completeness::whole, arena_);
  const auto json = [&](std::initializer_list<std::string_view> keys) {
    return yaml::emit_json(whole.get(keys));
  };
  EXPECT_EQ(json({"required"}), R"(["kind","spec"])");
  // What has a default may be absent; what the platform refuses is not there.
  EXPECT_EQ(json({"properties", "spec", "required"}), R"(["site"])");
  EXPECT_EQ(json({"properties", "spec", "properties", "old"}), "null");
  EXPECT_EQ(json({"properties", "spec", "additionalProperties"}), "false");
  EXPECT_EQ(json({"properties", "spec", "properties", "free"}), R"({"type":"object"})");
  EXPECT_EQ(json({"properties", "spec", "properties", "size"}),
            R"({"type":"integer","default":3,"exclusiveMinimum":0})");
  // ECMAScript has no `(?i)`.
  EXPECT_EQ(json({"properties", "spec", "properties", "site", "pattern"}), "null");
  EXPECT_EQ(json({"properties", "spec", "properties", "pools", "items", "properties", "name"}),
            R"({"type":"string","pattern":"^p"})");
  EXPECT_EQ(json({"properties", "spec", "properties", "pools", "items", "properties", "share"}),
            R"({"type":["integer","string"]})");
}

TEST_F(Fields, OfALayerAreNotRequired) {
  const yaml::Node layer = json_schema(definition_, Completeness::partial, arena_);
  EXPECT_TRUE(layer.get("required").is_null());
  const yaml::Node pools = layer.get({"properties", "spec", "properties", "pools"});
  EXPECT_EQ(yaml::emit_json(pools.get("type")), R"(["array","null"])");
  EXPECT_TRUE(pools.get("minItems").is_null());
  EXPECT_FALSE(pools.get({"items", "properties", "remove"}).is_null());
}

}  // namespace
}  // namespace gpuctl::fields
