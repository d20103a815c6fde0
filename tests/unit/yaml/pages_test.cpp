// The example on the page of each code of the reader is refused with that code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "fixture.hpp"
#include "yaml/codes.hpp"

namespace gpuctl::yaml {
namespace {

class Page : public testing::TestWithParam<std::string_view> {};

TEST_P(Page, ShowsAnExampleOfItsCode) {
  const std::string code(GetParam());
  std::ifstream file(std::string(GPUCTL_SOURCE_DIR) + "/docs/codes/" + code + ".md");
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string page = stream.str();
  EXPECT_TRUE(page.starts_with("# " + code + ": ")) << page;
  EXPECT_THAT(page, testing::HasSubstr("\n## What to do\n"));
  constexpr std::string_view kOpen = "\n## Example\n\n```yaml\n";
  const std::size_t open = page.find(kOpen);
  ASSERT_NE(open, std::string::npos);
  const std::size_t begin = open + kOpen.size();
  const test::Text text(page.substr(begin, page.find("```", begin) - begin));
  ASSERT_FALSE(text.sink.all().empty());
  EXPECT_EQ(text.sink.all().front().code, code);
}

INSTANTIATE_TEST_SUITE_P(Codes, Page,
                         testing::Values(kBadCharacter, kSyntax, kUnterminated, kDuplicateKey,
                                         kMergeKey, kBadKey, kTag, kAlias, kAmbiguousScalar,
                                         kIntegerRange, kManyDocuments, kInputLimit));

}  // namespace
}  // namespace gpuctl::yaml
