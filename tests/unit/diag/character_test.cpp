#include "diag/character.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gpuctl::diag {
namespace {

std::vector<char32_t> decode(std::string_view text) {
  std::vector<char32_t> out;
  for (std::size_t i = 0; i < text.size();) out.push_back(next_code_point(text, i));
  return out;
}

TEST(NextCodePoint, Decodes) {
  EXPECT_EQ(decode("aé€😀"), (std::vector<char32_t>{'a', 0xE9, 0x20AC, 0x1F600}));
}

TEST(NextCodePoint, ReplacesBadBytesOneByOne) {
  constexpr char32_t kBad = 0xFFFD;
  EXPECT_EQ(decode("\xFF"
                   "a"),
            (std::vector<char32_t>{kBad, 'a'}));
  EXPECT_EQ(decode("\xC3"), (std::vector<char32_t>{kBad}));
  EXPECT_EQ(decode("\xE2\x82"), (std::vector<char32_t>{kBad, kBad}));
  EXPECT_EQ(decode("\xC0\xAF"), (std::vector<char32_t>{kBad, kBad}));            // overlong
  EXPECT_EQ(decode("\xED\xA0\x80"), (std::vector<char32_t>{kBad, kBad, kBad}));  // surrogate
  EXPECT_EQ(decode("\xF4\x90\x80\x80"), (std::vector<char32_t>(4, kBad)));       // over 10FFFF
  EXPECT_EQ(decode("\xE0\x80\x80"), (std::vector<char32_t>{kBad, kBad, kBad}));  // overlong
}

TEST(AppendCodePoint, IsTheInverse) {
  std::string out;
  for (const char32_t c : {U'a', U'é', U'€', U'😀', char32_t{0x7FF}, char32_t{0x800}}) {
    append_code_point(out, c);
  }
  EXPECT_EQ(out, "aé€😀\xDF\xBF\xE0\xA0\x80");
}

TEST(Characters, Classes) {
  for (const char32_t c : {U'\x00', U'\x1B', U'\x7F', U'\x85', U'\x9F', U'\x2028', U'\x2029',
                           U'\xFEFF', U'\xFFFE', U'\xFFFF'}) {
    EXPECT_TRUE(is_unprintable(c)) << code_point_name(c);
  }
  for (const char32_t c : {U'\x20', U'\x7E', U'\xA0', U'\xE9', U'\x2027', U'\xFFFD', U'\x1F600'}) {
    EXPECT_FALSE(is_unprintable(c)) << code_point_name(c);
  }
  for (const char32_t c : {U'\xAD', U'\x61C', U'\x200B', U'\x200F', U'\x202A', U'\x202E', U'\x2060',
                           U'\x2066', U'\x2069'}) {
    EXPECT_TRUE(is_hidden(c)) << code_point_name(c);
  }
  EXPECT_FALSE(is_hidden(U'a'));
  EXPECT_FALSE(is_hidden(0x2010));
}

TEST(Characters, Widths) {
  EXPECT_EQ(display_width(U'a'), 1U);
  EXPECT_EQ(display_width(U'é'), 1U);
  EXPECT_EQ(display_width(0x301), 0U);  // combining acute accent
  EXPECT_EQ(display_width(U'日'), 2U);
  EXPECT_EQ(display_width(U'😀'), 2U);
}

TEST(Characters, Names) {
  EXPECT_EQ(code_point_name(0), "U+0000");
  EXPECT_EQ(code_point_name(0xAD), "U+00AD");
  EXPECT_EQ(code_point_name(0x1F600), "U+1F600");
}

TEST(AppendVisible, ReplacesWhatCannotBeSeen) {
  std::string out = "> ";
  append_visible(out,
                 "a\tb\nc\x1b"
                 "d\xE2\x80\xAE"
                 "e\xFF");
  EXPECT_EQ(out,
            "> a b\nc\xEF\xBF\xBD"
            "d\xEF\xBF\xBD"
            "e\xEF\xBF\xBD");
}

}  // namespace
}  // namespace gpuctl::diag
