// CEL types, paths, and how field names are escaped in rules.
#include <ostream>

#include "schema/compiled.hpp"
#include "support.hpp"

namespace gpuctl::schema {
namespace {

constexpr const char* kSchema =
    "type: object\n"
    "required: [name]\n"
    "properties:\n"
    "  name: {type: string}\n"
    "  count: {type: integer, default: 1}\n"
    "  share: {type: number}\n"
    "  on: {type: boolean}\n"
    "  port: {x-kubernetes-int-or-string: true}\n"
    "  maybe: {type: string, nullable: true}\n"
    "  free: {x-kubernetes-preserve-unknown-fields: true}\n"
    "  labels: {type: object, additionalProperties: {type: string}}\n"
    "  anything: {type: object, x-kubernetes-preserve-unknown-fields: true}\n"
    "  open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: "
    "string}}}\n"
    "  pools:\n"
    "    type: array\n"
    "    items: {type: object, properties: {mig: {type: object, properties: {strategy: {type: "
    "string, x-gpuctl-secret: true, description: Text.}}}}}\n"
    "  profiles: {type: object, additionalProperties: {type: object, properties: {replicas: "
    "{type: integer}}}}\n";

TEST(CelType, FollowsTheSchema) {
  Bench bench;
  const cel::Type type = cel_type(*bench.schema(kSchema), "Thing");
  ASSERT_NE(type.object(), nullptr);
  EXPECT_EQ(type.text(), "object Thing");
  EXPECT_FALSE(type.object()->open);
  const auto field = [&](const char* name) {
    const cel::Field* found = type.object()->find(name);
    EXPECT_NE(found, nullptr) << name;
    return found == nullptr ? cel::Type() : found->type;
  };
  EXPECT_EQ(field("name").kind(), cel::TypeKind::string);
  EXPECT_EQ(field("count").kind(), cel::TypeKind::integer);
  EXPECT_EQ(field("share").kind(), cel::TypeKind::real);
  EXPECT_EQ(field("on").kind(), cel::TypeKind::boolean);
  EXPECT_TRUE(field("port").is_dyn());
  EXPECT_TRUE(field("maybe").is_dyn());
  EXPECT_TRUE(field("free").is_dyn());
  EXPECT_EQ(field("labels").text(), "map(string, string)");
  EXPECT_EQ(field("anything").text(), "map(string, dyn)");
  ASSERT_NE(field("open").object(), nullptr);
  EXPECT_TRUE(field("open").object()->open);
  EXPECT_EQ(field("pools").kind(), cel::TypeKind::list);
  ASSERT_NE(field("pools").element().object(), nullptr);
  EXPECT_NE(field("pools").element().object()->find("mig"), nullptr);
  EXPECT_TRUE(type.object()->find("name")->required);
  EXPECT_TRUE(type.object()->find("count")->required) << "a default is always there";
  EXPECT_FALSE(type.object()->find("share")->required);
}

TEST(CelType, ResourcesHaveTheCommonFields) {
  Bench bench;
  const SchemaPtr schema = compile_published(
      bench.read("type: object\nproperties: {spec: {type: object}}"), bench.sources, "Kind");
  const cel::Type type = cel_type(*schema, "Kind");
  ASSERT_NE(type.object(), nullptr);
  for (const char* name : {"apiVersion", "kind", "metadata", "spec"}) {
    EXPECT_NE(type.object()->find(name), nullptr) << name;
  }
  ASSERT_NE(type.object()->find("metadata")->type.object(), nullptr);
  EXPECT_NE(type.object()->find("metadata")->type.object()->find("name"), nullptr);
}

TEST(At, EntersListsAndMapsSilently) {
  Bench bench;
  const SchemaPtr schema = bench.schema(kSchema);
  const auto type = [&](std::string_view path) {
    const Schema* found = at(*schema, path);
    return found == nullptr ? std::string("none")
                            : std::string(definition(*found).get("type").as_string());
  };
  EXPECT_EQ(type(""), "object");
  EXPECT_EQ(type("name"), "string");
  EXPECT_EQ(type("pools"), "array");
  EXPECT_EQ(type("pools.mig"), "object");
  EXPECT_EQ(type("pools[1].mig.strategy"), "string");
  EXPECT_EQ(type("profiles.replicas"), "integer");
  EXPECT_EQ(type("profiles.shared4.replicas"), "integer");
  EXPECT_EQ(type("pools.mgi"), "none");
  EXPECT_EQ(type("name.x"), "none");
  EXPECT_EQ(definition(*at(*schema, "pools.mig.strategy")).get("description").as_string(), "Text.");
}

TEST(PathsWith, FindsExtensions) {
  Bench bench;
  EXPECT_EQ(paths_with(*bench.schema(kSchema), "x-gpuctl-secret"),
            std::vector<std::string>{"pools.mig.strategy"});
  EXPECT_TRUE(paths_with(*bench.schema(kSchema), "x-gpuctl-other").empty());
}

struct Escape {
  const char* name;
  const char* escaped;  // nullptr: not reachable
};
void PrintTo(const Escape& c, std::ostream* out) {
  *out << c.name;
}
class Escapes : public testing::TestWithParam<Escape> {};
TEST_P(Escapes, AsKubernetesDoesIt) {
  const std::optional<std::string> escaped = escape_field(GetParam().name);
  ASSERT_EQ(escaped.has_value(), GetParam().escaped != nullptr);
  EXPECT_EQ(escaped.value_or(""), GetParam().escaped == nullptr ? "" : GetParam().escaped);
}
// The first rows are the examples of the Kubernetes documentation.
INSTANTIATE_TEST_SUITE_P(
    All, Escapes,
    testing::Values(Escape{"namespace", "__namespace__"}, Escape{"x-prop", "x__dash__prop"},
                    Escape{"redact__d", "redact__underscores__d"}, Escape{"string", "string"},
                    Escape{"a.b", "a__dot__b"}, Escape{"a/b", "a__slash__b"}, Escape{"_a", "_a"},
                    Escape{"___", "__underscores___"}, Escape{"a1", "a1"}, Escape{"1a", nullptr},
                    Escape{"a b", nullptr}, Escape{"", nullptr}));

}  // namespace
}  // namespace gpuctl::schema
