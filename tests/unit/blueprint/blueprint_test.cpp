#include "blueprint/blueprint.hpp"

#include <gtest/gtest.h>

#include "support/knowledge.hpp"

namespace gpuctl::blueprint {
namespace {

using testing::Lab;

TEST(Blueprint, FillsInDefaults) {
  Lab lab;
  const auto blueprint = lab.blueprint("  pools: [{name: a}]\n");
  ASSERT_TRUE(blueprint.has_value()) << lab.report();
  EXPECT_EQ(blueprint->name, "one");
  EXPECT_EQ(blueprint->stage, "prod");
  EXPECT_EQ(blueprint->spec.get("size").as_integer(), 2);
}

TEST(Blueprint, PointsAtTheUnknownField) {
  Lab lab;
  EXPECT_FALSE(lab.blueprint("  pool: []\n").has_value());
  EXPECT_EQ(lab.codes(), "GPU0201");
  EXPECT_NE(lab.report().find("blueprint.yaml:6:3"), std::string::npos) << lab.report();
  EXPECT_NE(lab.report().find("did you mean `pools`?"), std::string::npos) << lab.report();
}

std::string load_codes(const std::string& text) {
  Lab lab;
  const diag::FileId file = lab.library->sources().add_file("b.yaml", text);
  const auto find = [&](const std::string& name, diag::Origin at, diag::Sink& sink) {
    return catalog::load_platform(*lab.library, name, at, sink);
  };
  auto layers = read_layers(file, nullptr, lab.context());
  EXPECT_FALSE(layers && load(std::move(*layers), "", find, lab.context()).has_value());
  return lab.codes();
}

TEST(Blueprint, RefusesOtherDocuments) {
  EXPECT_EQ(load_codes("apiVersion: v1\nkind: Pod\n"), "GPU0601");
  EXPECT_EQ(load_codes("[]\n"), "GPU0601");
  EXPECT_EQ(load_codes(""), "GPU0601");
  EXPECT_EQ(load_codes("apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\n"), "GPU0601");
  EXPECT_EQ(load_codes("apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\nspec: {}\n"), "GPU0601");
  EXPECT_EQ(load_codes("apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\nspec: {platform: lap}\n"),
            "GPU0403");
}

TEST(Facts, AreCheckedAgainstTheirSchema) {
  const auto facts = [](const std::string& text) {
    Lab lab;
    const auto blueprint = lab.blueprint("  size: 1\n");
    const diag::FileId file = lab.library->sources().add_file("f.yaml", text);
    const auto loaded = load_facts(file, *blueprint, lab.context());
    return loaded ? yaml::emit_json(*loaded) : lab.codes();
  };
  const std::string head = "apiVersion: gpuctl.dev/v1alpha1\nkind: Facts\n";
  EXPECT_EQ(facts(head + "spec: {infraID: one-x1}\n"), "{\"infraID\":\"one-x1\"}");
  EXPECT_EQ(facts(head), "{}");
  EXPECT_EQ(facts(head + "spec: {infra: one-x1}\n"), "GPU0201");
  EXPECT_EQ(facts(head + "facts: {}\n"), "GPU0602");
  EXPECT_EQ(facts("kind: Facts\n"), "GPU0602");
  EXPECT_EQ(facts(head + "metadata: {name: one}\n"), "{}");
  EXPECT_EQ(facts(head + "metadata: {name: two}\n"), "GPU0680");
  EXPECT_EQ(facts(head + "metadata: {name: [one]}\n"), "GPU0602");
  EXPECT_EQ(facts(head + "metadata: one\n"), "GPU0602");
}

}  // namespace
}  // namespace gpuctl::blueprint
