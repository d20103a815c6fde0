#include "catalog/image.hpp"

#include <gtest/gtest.h>

#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::catalog {
namespace {

TEST(Image, HoldsTextsSpansAndTrees) {
  diag::Sources sources;
  diag::Sink sink;
  yaml::Arena arena;
  std::vector<ImageFile> files;
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"providers/a.yaml",
       "n: -9223372036854775808\nbig: 9223372036854775807\nreal: -1.5\nyes: true\nno: false\n"
       "none: null\ntext: \"a\\nb\"\nlist: [1, [2], {}]\nempty: \"\"\n"},
      {"templates/b.yaml", "key: ${value}\n"},
  };
  for (const auto& [name, text] : texts) {
    const diag::FileId id = sources.add_file(name, text);
    const auto tree = yaml::read(id, sources, arena, sink);
    ASSERT_TRUE(tree.has_value());
    files.push_back({name, text, *tree});
  }
  // The linker aligns the real image; a string is aligned well enough for 32-bit spans.
  const std::string bytes = write_image(files, sources);
  const std::optional<Image> image = Image::open(bytes);
  ASSERT_TRUE(image.has_value());
  ASSERT_EQ(image->files().size(), 2U);
  const diag::Sources loaded(image->files(), image->spans());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(image->files()[i].name, texts[i].first);
    EXPECT_EQ(image->files()[i].text, texts[i].second);
    yaml::SharedArena other;
    const yaml::Node tree = image->tree(i, other);
    EXPECT_TRUE(yaml::equal(tree, files[i].tree)) << yaml::emit(tree);
    for (const yaml::Entry& entry : tree.entries()) {
      const yaml::Entry* before = files[i].tree.find_entry(entry.key.as_string());
      ASSERT_NE(before, nullptr);
      EXPECT_EQ(loaded.text(entry.value.origin()), sources.text(before->value.origin()));
      EXPECT_EQ(loaded.text(entry.key.origin()), sources.text(before->key.origin()));
    }
  }
  EXPECT_EQ(image->digest().size(), 64U);
}

TEST(Image, RefusesOtherBytes) {
  EXPECT_FALSE(Image::open("").has_value());
  EXPECT_FALSE(Image::open(std::string(200, 'x')).has_value());
}

TEST(Image, DigestFollowsTheTexts) {
  diag::Sources sources;
  sources.add_file("a", "x");
  const std::vector<ImageFile> one = {{"a", "x", {}}};
  const std::vector<ImageFile> two = {{"a", "y", {}}};
  const std::string first = write_image(one, sources);
  const std::string second = write_image(two, sources);
  EXPECT_NE(Image::open(first)->digest(), Image::open(second)->digest());
}

}  // namespace
}  // namespace gpuctl::catalog
