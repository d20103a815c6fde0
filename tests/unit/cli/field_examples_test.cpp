// `gpuctl explain FIELD` has an example of every field. FieldExamples takes none that is not valid.
#include "cli/field_examples.hpp"

#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "pipeline/knowledge.hpp"
#include "schema/schema.hpp"

namespace gpuctl::cli {
namespace {

class Examples : public testing::Test {
 protected:
  Examples() : knowledge_(built_in_image(), "", "", opening_), examples_(arena_) {}

  void look_at(const fields::Field& field, const std::string& platform) {
    ++fields_;
    const FieldExample example = examples_.find(field, {platform});
    const std::vector<fields::Field> parts = fields::fields_of(field);
    // Of what has parts each part has one. Another platform may have one: `explain` takes the
    // first.
    const bool there = !example.value.is_null() || !parts.empty();
    there_[field.path] = there_[field.path] || there;
    for (const fields::Field& one : parts) look_at(one, platform);
  }

  diag::Sink opening_;
  pipeline::Knowledge knowledge_;
  yaml::Arena arena_;
  FieldExamples examples_;
  std::map<std::string, bool> there_;  // by path
  std::size_t fields_ = 0;
};

TEST_F(Examples, AreThereForEveryField) {
  for (const std::string& name : knowledge_.names()) {
    diag::Sink sink;
    const pipeline::Compiled* compiled = knowledge_.platform(name, diag::kNoOrigin, sink);
    ASSERT_NE(compiled, nullptr);
    for (const char* root : {"extends", "metadata", "spec"}) {
      const yaml::Node& whole = schema::definition(*compiled->platform->blueprint);
      look_at(*fields::find_field(whole, root).field, name);
    }
  }
  EXPECT_GT(fields_, 1000U);
  for (const auto& [path, there] : there_) {
    EXPECT_TRUE(there) << path << ": give its definition an `example`";
  }
}

}  // namespace
}  // namespace gpuctl::cli
